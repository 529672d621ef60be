# ArmMul has no C files; its C is generated. Python reads such lists too
# (mcu_deploy/backends/file_lists.py).
mcu_backend(ArmMul)
