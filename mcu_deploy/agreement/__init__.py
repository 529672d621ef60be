"""When two computations of one network agree: the rules, and the comparisons layer by layer."""
