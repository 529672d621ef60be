# The model formats: each module of mcu_deploy/formats/ that says which file name endings it reads.

set(MCU_FORMATS "")
file(GLOB modules CONFIGURE_DEPENDS "${MCU_ROOT}/mcu_deploy/formats/*.py")
foreach(module IN LISTS modules)
  file(STRINGS "${module}" suffixes REGEX "^SUFFIXES *=" LIMIT_COUNT 1)
  if(suffixes)
    cmake_path(GET module STEM name)
    string(TOUPPER ${name} name)
    list(APPEND MCU_FORMATS ${name})
  endif()
endforeach()
mcu_switches(MCU_FORMAT_ format ${MCU_FORMATS})
