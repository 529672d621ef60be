# The C files of CpuRef; Python reads this list too (mcu_deploy/backends/file_lists.py).
mcu_backend(CpuRef
    SOURCES c/quantize.c
    TEST_SOURCES test/test_quantize.c)
