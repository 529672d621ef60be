"""How cores with the DSP extension (SMLAD) load, widen, multiply, round and loop: the parts that
ArmDsp's kernels are made of."""
