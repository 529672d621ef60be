# Records the lists that were read, for <build>/file_lists.json: the tests compare it with what
# mcu_deploy/backends/file_lists.py reads.

# mcu_json_string(RESULT TEXT): the text as a JSON string.
function(mcu_json_string result text)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  set(${result} "\"${text}\"" PARENT_SCOPE)
endfunction()

# mcu_json_list(RESULT ITEM...): the items as a JSON array of strings.
function(mcu_json_list result)
  set(strings "")
  foreach(item IN LISTS ARGN)
    mcu_json_string(text "${item}")
    list(APPEND strings "${text}")
  endforeach()
  list(JOIN strings ", " joined)
  set(${result} "[${joined}]" PARENT_SCOPE)
endfunction()

# mcu_record_lists(ID [SOURCES ...] [TEST_SOURCES ...] [COMMON ...]): of the folder that is read.
function(mcu_record_lists id)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;TEST_SOURCES;COMMON")
  mcu_json_string(file "${CMAKE_CURRENT_LIST_FILE}")
  mcu_json_list(sources ${arg_SOURCES})
  mcu_json_list(test_sources ${arg_TEST_SOURCES})
  mcu_json_list(common ${arg_COMMON})
  set(entry "{\"file\": ${file}, \"id\": \"${id}\", \"sources\": ${sources}, ")
  string(APPEND entry "\"test_sources\": ${test_sources}, \"common\": ${common}}")
  get_property(entries GLOBAL PROPERTY MCU_FILE_LISTS)
  string(JOIN ",\n " entries ${entries} "${entry}")
  set_property(GLOBAL PROPERTY MCU_FILE_LISTS "${entries}")
endfunction()

function(mcu_write_lists)
  get_property(entries GLOBAL PROPERTY MCU_FILE_LISTS)
  file(WRITE "${PROJECT_BINARY_DIR}/file_lists.json" "[${entries}]\n")
endfunction()
