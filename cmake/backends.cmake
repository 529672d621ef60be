# Picks up every backend: each folder of mcu_deploy/backends/ that has a backend.cmake. A folder that
# has a common.cmake instead is code that several backends share, and is built first.

# mcu_backend(ID [SOURCES file...] [TEST_SOURCES file...] [TARGET_SOURCES file...]
# [TARGET_TEST_SOURCES file...] [COMMON id...]): the one call of a backend.cmake. ID is the folder's
# name, the files are relative to the folder. Makes the object library mcu_backend_<ID>, and of each
# test source a program, which ctest runs as <ID>.<file>; it is linked with the backend's objects, the
# common ones and the checks of tests/crt/check.h. What begins with TARGET_ is compiled for the target
# alone, and its tests run in an emulated Cortex-M4 (cmake/target.cmake).
function(mcu_backend id)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "${MCU_FILES};COMMON")
  mcu_check_call(mcu_backend ${id} ${arg_UNPARSED_ARGUMENTS})
  set(common "")
  foreach(name IN LISTS arg_COMMON)
    if(NOT TARGET mcu_common_${name})
      message(FATAL_ERROR "The backend ${id} builds on ${name}, but no folder of that name with a "
                          "common.cmake lies beside the backends.")
    endif()
    list(APPEND common mcu_common_${name})
  endforeach()
  mcu_folder(${id} mcu_backend_${id} "${common}" ${ARGN})
endfunction()

# mcu_common(ID ...), with the same files: the one call of a common.cmake. Backends that name it in
# COMMON find its headers by their paths in its folder.
function(mcu_common id)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "${MCU_FILES}")
  mcu_check_call(mcu_common ${id} ${arg_UNPARSED_ARGUMENTS})
  mcu_folder(${id} mcu_common_${id} "" ${ARGN})
endfunction()

function(mcu_folder id library common)
  cmake_parse_arguments(PARSE_ARGV 3 arg "" "" "${MCU_FILES};COMMON")
  set(sources ${arg_SOURCES})
  if(CMAKE_CROSSCOMPILING)
    list(APPEND sources ${arg_TARGET_SOURCES})
  endif()
  mcu_object_library(${library} "${sources}" "${common}")
  mcu_tests(${id} "${arg_TEST_SOURCES}" ${library} ${common})
  mcu_target_tests(${id} "${arg_TARGET_TEST_SOURCES}" ${library} ${common})
  mcu_record_lists(${id} ${ARGN})
endfunction()

function(mcu_check_call command id)
  cmake_path(GET CMAKE_CURRENT_LIST_DIR FILENAME folder)
  if(NOT id STREQUAL folder)
    message(FATAL_ERROR "${command} in ${CMAKE_CURRENT_LIST_FILE} has the id ${id}. Make it "
                        "${folder}, the name of its folder.")
  elseif(ARGN)
    message(FATAL_ERROR "${command} in ${CMAKE_CURRENT_LIST_FILE} does not understand ${ARGN}.")
  endif()
endfunction()

function(mcu_object_library target sources libraries)
  if(sources)
    list(TRANSFORM sources PREPEND "${CMAKE_CURRENT_LIST_DIR}/")
    add_library(${target} OBJECT ${sources})
    mcu_compile_options(${target} -O2)
    mcu_sanitize(${target})
    set(scope PUBLIC)
  else() # headers alone, or a backend without C
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(${target} ${scope}
    "${CMAKE_CURRENT_LIST_DIR}" "${MCU_ROOT}/crt/include")
  target_link_libraries(${target} ${scope} ${libraries})
endfunction()

function(mcu_tests id sources)
  if(CMAKE_CROSSCOMPILING OR NOT BUILD_TESTING OR NOT sources)
    return()
  endif()
  foreach(source IN LISTS sources)
    cmake_path(GET source STEM name)
    set(target ${id}_${name})
    add_executable(${target} "${CMAKE_CURRENT_LIST_DIR}/${source}")
    mcu_compile_options(${target} -O2)
    mcu_sanitize(${target})
    target_link_libraries(${target} PRIVATE ${ARGN} mcu_check m)
    add_test(NAME ${id}.${name} COMMAND ${target})
  endforeach()
endfunction()

# Programs for the emulated core, with semihosting; the host's build, which has ctest, runs them.
function(mcu_target_tests id sources)
  if(NOT BUILD_TESTING OR NOT MCU_BOARD_FLAGS MATCHES "cortex-m4")
    return()
  endif()
  foreach(source IN LISTS sources)
    cmake_path(GET source STEM name)
    if(NOT CMAKE_CROSSCOMPILING)
      set_property(GLOBAL APPEND PROPERTY MCU_TARGET_TESTS ${id}.${name})
      continue()
    endif()
    separate_arguments(board_flags UNIX_COMMAND "${MCU_BOARD_FLAGS}")
    add_executable(${id}.${name} "${CMAKE_CURRENT_LIST_DIR}/${source}")
    mcu_compile_options(${id}.${name} -O2)
    target_link_options(${id}.${name} PRIVATE ${board_flags} -nostartfiles --specs=nano.specs
      -T "${MCU_ROOT}/tests/crt/target/mps2-an386.ld")
    target_link_libraries(${id}.${name} PRIVATE ${ARGN} mcu_check m)
  endforeach()
endfunction()

if(BUILD_TESTING)
  if(CMAKE_CROSSCOMPILING)
    set(start target/startup.c)
  else()
    set(start host/print.c)
  endif()
  # Of objects: nobody refers to the vectors in startup.c.
  add_library(mcu_check OBJECT EXCLUDE_FROM_ALL
    "${MCU_ROOT}/tests/crt/check.c" "${MCU_ROOT}/tests/crt/${start}")
  mcu_compile_options(mcu_check)
  target_include_directories(mcu_check PUBLIC "${MCU_ROOT}/tests/crt")
endif()

set(folder "${MCU_ROOT}/mcu_deploy/backends")
file(GLOB common_files CONFIGURE_DEPENDS "${folder}/*/common.cmake")
file(GLOB backend_files CONFIGURE_DEPENDS "${folder}/*/backend.cmake")
set(MCU_BACKENDS "")
foreach(file IN LISTS backend_files)
  cmake_path(GET file PARENT_PATH folder)
  cmake_path(GET folder FILENAME id)
  list(APPEND MCU_BACKENDS ${id})
endforeach()
mcu_switches(MCU_BACKEND_ backend ${MCU_BACKENDS})

foreach(file IN LISTS common_files)
  include("${file}")
endforeach()
foreach(file id IN ZIP_LISTS backend_files MCU_BACKENDS)
  if(MCU_BACKEND_${id})
    include("${file}")
  endif()
endforeach()
