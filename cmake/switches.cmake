# Switches for what may be left out: one for each backend and format.

# mcu_switches(PREFIX WHAT NAME...): one option <PREFIX><NAME> for each, ON by default; one that is
# off but belongs to nothing is a mistake in its name.
function(mcu_switches prefix what)
  foreach(name IN LISTS ARGN)
    option(${prefix}${name} "Ship the ${what} ${name}" ON)
  endforeach()
  get_property(variables DIRECTORY PROPERTY CACHE_VARIABLES)
  foreach(variable IN LISTS variables)
    if(variable MATCHES "^${prefix}(.+)$" AND NOT CMAKE_MATCH_1 IN_LIST ARGN AND NOT ${variable})
      list(JOIN ARGN ", " known)
      message(FATAL_ERROR "There is no ${what} ${CMAKE_MATCH_1} to switch off: there are ${known}. "
                          "Correct the name; -U${variable} removes the switch.")
    endif()
  endforeach()
endfunction()
