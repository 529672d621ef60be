# CpuRef has no C files of its own; Python reads this list too (mcu_deploy/backends/file_lists.py).
mcu_backend(CpuRef)
