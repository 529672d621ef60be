# The same sources for the target, in arm/ of the build folder: compiled, but not linked.
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
    -DCMAKE_TOOLCHAIN_FILE:FILEPATH=${MCU_ROOT}/cmake/arm-none-eabi.cmake
    -DMCU_BOARD_FLAGS:STRING=${MCU_BOARD_FLAGS}
    ${switches}
  INSTALL_COMMAND ""
  BUILD_ALWAYS ON) # only the inner build knows what has changed
