# For CMAKE_TOOLCHAIN_FILE: Arm's embedded compiler. Which core it compiles for is the project's to
# say, by compile and link options. find_package(mcu_deploy) finds the package that this lies in.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR arm)
set(CMAKE_C_COMPILER arm-none-eabi-gcc)
set(CMAKE_CXX_COMPILER arm-none-eabi-g++)
set(CMAKE_ASM_COMPILER arm-none-eabi-gcc)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY) # a program needs a board's linker script
set(mcu_deploy_DIR "${CMAKE_CURRENT_LIST_DIR}" CACHE PATH "mcu-deploy's CMake package")
