# The same sources for the target, in arm/ of the build folder: compiled, and linked where they are
# tests, which ctest runs in QEMU's mps2-an386, a Cortex-M4.
include(ExternalProject)

find_program(MCU_ARM_GCC arm-none-eabi-gcc DOC "OFF: nothing is compiled for the target")
if(NOT MCU_ARM_GCC)
  return()
endif()

set(switches "")
foreach(id IN LISTS MCU_BACKENDS)
  list(APPEND switches -DMCU_BACKEND_${id}:BOOL=${MCU_BACKEND_${id}})
endforeach()

ExternalProject_Add(target
  PREFIX "${PROJECT_BINARY_DIR}/target"
  SOURCE_DIR "${PROJECT_SOURCE_DIR}"
  BINARY_DIR "${PROJECT_BINARY_DIR}/arm"
  CMAKE_CACHE_ARGS
    -DCMAKE_TOOLCHAIN_FILE:FILEPATH=${MCU_ROOT}/cmake/package/arm-none-eabi.cmake
    -DMCU_BOARD_FLAGS:STRING=${MCU_BOARD_FLAGS}
    -DBUILD_TESTING:BOOL=${BUILD_TESTING}
    ${switches}
  INSTALL_COMMAND ""
  BUILD_ALWAYS ON) # only the inner build knows what has changed

get_property(tests GLOBAL PROPERTY MCU_TARGET_TESTS)
find_program(MCU_QEMU qemu-system-arm DOC "Runs the target's tests")
if(tests AND NOT MCU_QEMU)
  message(STATUS "Without qemu-system-arm these tests are left out: ${tests}")
  return()
endif()
foreach(name IN LISTS tests)
  add_test(NAME ${name} COMMAND "${MCU_QEMU}" -M mps2-an386 -nographic -monitor none -serial none
    -semihosting-config enable=on,target=native -kernel "${PROJECT_BINARY_DIR}/arm/${name}")
endforeach()
