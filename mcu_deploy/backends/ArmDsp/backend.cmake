# The C files of ArmDsp; the rest of its C is generated. Python reads this list too
# (mcu_deploy/backends/file_lists.py).
mcu_backend(ArmDsp
    SOURCES c/depthwise_late.c)
