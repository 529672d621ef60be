# CpuRef has no C sources of its own: its kernels are generated from templates/ for each network.
set(MCU_BACKEND_ID CpuRef)
