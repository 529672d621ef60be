# The same sources for the target, in arm/ of the build folder: compiled, but not linked.
include(ExternalProject)

find_program(MCU_ARM_GCC arm-none-eabi-gcc)
set(there OFF)
if(MCU_ARM_GCC)
  set(there ON)
endif()
option(MCU_TARGET_BUILD "Also compile for the target" ${there})
if(NOT MCU_TARGET_BUILD)
  return()
elseif(NOT MCU_ARM_GCC)
  message(FATAL_ERROR "MCU_TARGET_BUILD is on, but there is no arm-none-eabi-gcc: `make setup` "
                      "installs it, and -DMCU_TARGET_BUILD=OFF does without.")
endif()

set(switches "")
foreach(id IN LISTS MCU_BACKENDS)
  list(APPEND switches -DMCU_BACKEND_${id}:BOOL=${MCU_BACKEND_${id}})
endforeach()
string(REPLACE ";" "|" extra_backends "${MCU_EXTRA_BACKENDS}")

ExternalProject_Add(target
  PREFIX "${PROJECT_BINARY_DIR}/target"
  SOURCE_DIR "${PROJECT_SOURCE_DIR}"
  BINARY_DIR "${PROJECT_BINARY_DIR}/arm"
  LIST_SEPARATOR |
  CMAKE_CACHE_ARGS
    -DCMAKE_TOOLCHAIN_FILE:FILEPATH=${MCU_ROOT}/cmake/arm-none-eabi.cmake
    -DMCU_BOARD_FLAGS:STRING=${MCU_BOARD_FLAGS}
    -DMCU_WARNINGS_AS_ERRORS:BOOL=${MCU_WARNINGS_AS_ERRORS}
    -DMCU_EXTRA_BACKENDS:STRING=${extra_backends}
    ${switches}
  INSTALL_COMMAND ""
  BUILD_ALWAYS ON) # only the inner build knows what has changed
