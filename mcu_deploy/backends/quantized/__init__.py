"""What integer kernels of all cores share; it names no register: layers as they are read, rounding
solved and proven, packed weights, tiles and lines of windows, pools."""
