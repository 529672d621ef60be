"""How cores with Helium load, multiply, round and store: what ArmMve's kernels are made of."""
