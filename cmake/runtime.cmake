# libmcu_crt, made small rather than fast, as mcu-deploy compiles it.

# mcu_runtime(ID SOURCES file...): the one call of crt/sources.cmake.
function(mcu_runtime id)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES")
  list(TRANSFORM arg_SOURCES PREPEND "${CMAKE_CURRENT_LIST_DIR}/" OUTPUT_VARIABLE sources)
  add_library(mcu_${id} STATIC ${sources})
  mcu_compile_options(mcu_${id} -Os)
  target_include_directories(mcu_${id} PUBLIC "${CMAKE_CURRENT_LIST_DIR}/include")
  set_target_properties(mcu_${id} PROPERTIES ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
  mcu_record_lists(${id} SOURCES ${arg_SOURCES})
endfunction()

include("${MCU_ROOT}/crt/sources.cmake")
