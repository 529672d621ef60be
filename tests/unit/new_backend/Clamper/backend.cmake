# A complete backend, as somebody would drop it into mcu_deploy/backends/.
mcu_backend(Clamper
    SOURCES c/not_below_zero.c
    TEST_SOURCES test/test_not_below_zero.c)
