"""What float32 kernels of all cores share; it names no register: layers as they are read, the
tiles in which windows are multiplied, and the C of recurrent layers around their products."""
