# Writes what was chosen to <build>/configuration.json, which mcu_deploy/configuration.py reads.

set(MCU_DYNAMIC_BACKEND_PATHS "" CACHE STRING
    "Where dynamic backends are looked for by default: absolute paths with colons between them")

string(REPLACE ":" ";" paths "${MCU_DYNAMIC_BACKEND_PATHS}")
foreach(path IN LISTS paths)
  if(path AND NOT IS_ABSOLUTE "${path}")
    message(FATAL_ERROR "MCU_DYNAMIC_BACKEND_PATHS holds ${path}, which is not absolute. Write the "
                        "path from the root.")
  endif()
endforeach()

set(backends_off "")
foreach(id IN LISTS MCU_BACKENDS)
  if(NOT MCU_BACKEND_${id})
    list(APPEND backends_off ${id})
  endif()
endforeach()
set(formats_off "")
foreach(name IN LISTS MCU_FORMATS)
  if(NOT MCU_FORMAT_${name})
    string(TOLOWER ${name} module)
    list(APPEND formats_off ${module})
  endif()
endforeach()

mcu_json_list(backends_off ${backends_off})
mcu_json_list(formats_off ${formats_off})
mcu_json_string(paths "${MCU_DYNAMIC_BACKEND_PATHS}")
set(MCU_CONFIGURATION "${PROJECT_BINARY_DIR}/configuration.json")
file(WRITE "${MCU_CONFIGURATION}"
  "{\n  \"backends_off\": ${backends_off},\n  \"formats_off\": ${formats_off},\n"
  "  \"dynamic_backend_paths\": ${paths}\n}\n")
