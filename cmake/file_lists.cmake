# Records the lists that were read, for <build>/file_lists.json: the tests compare it with what
# mcu_deploy/backends/file_lists.py reads.

set(MCU_FILES SOURCES TEST_SOURCES TARGET_SOURCES TARGET_TEST_SOURCES)

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

# mcu_record_lists(ID, and what mcu_backend takes): of the folder that is read.
function(mcu_record_lists id)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "${MCU_FILES};COMMON")
  mcu_json_string(file "${CMAKE_CURRENT_LIST_FILE}")
  set(entry "{\"file\": ${file}, \"id\": \"${id}\"")
  foreach(keyword IN LISTS MCU_FILES ITEMS COMMON)
    string(TOLOWER ${keyword} key)
    mcu_json_list(files ${arg_${keyword}})
    string(APPEND entry ", \"${key}\": ${files}")
  endforeach()
  string(APPEND entry "}")
  get_property(entries GLOBAL PROPERTY MCU_FILE_LISTS)
  string(JOIN ",\n " entries ${entries} "${entry}")
  set_property(GLOBAL PROPERTY MCU_FILE_LISTS "${entries}")
endfunction()

function(mcu_write_lists)
  get_property(entries GLOBAL PROPERTY MCU_FILE_LISTS)
  file(WRITE "${PROJECT_BINARY_DIR}/file_lists.json" "[${entries}]\n")
endfunction()
