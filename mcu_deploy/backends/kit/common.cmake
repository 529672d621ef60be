# The C files of the kit; Python reads this list too (mcu_deploy/backends/file_lists.py).
mcu_common(kit
    SOURCES c/clamp.c c/exponential.c c/looked_up.c c/lstm.c c/multiply_quantized.c c/multiply_wide.c c/quantize.c
            c/reciprocal.c c/round_away.c
    TEST_SOURCES test/test_exponential.c test/test_multiply_quantized.c test/test_multiply_wide.c test/test_quantize.c
                 test/test_reciprocal.c test/test_round_away.c)
