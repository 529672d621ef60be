"""What float32 kernels of all cores share; it names no register: layers as they are read, and the
tiles in which windows are multiplied."""
