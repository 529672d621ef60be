# For CMAKE_TOOLCHAIN_FILE: Arm's embedded compiler. MCU_BOARD_FLAGS chooses the core.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR arm)
set(CMAKE_C_COMPILER arm-none-eabi-gcc)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY) # a program needs a board's linker script
