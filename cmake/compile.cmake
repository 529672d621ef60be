# How C is compiled: strictly, and with the arithmetic that networks are compiled with.

set(CMAKE_COMPILE_WARNING_AS_ERROR ON) # `cmake --compile-no-warning-as-error` lets them pass

# Used where the target is compiled for; a host build hands it on.
set(MCU_BOARD_FLAGS "-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16"
    CACHE STRING "The flags that choose the target's core, as a board's file has them")

# mcu_compile_options(TARGET FLAG...): this project's flags, and more for one target.
function(mcu_compile_options target)
  separate_arguments(board_flags UNIX_COMMAND "${MCU_BOARD_FLAGS}")
  target_compile_options(${target} PRIVATE
    $<$<BOOL:${CMAKE_CROSSCOMPILING}>:${board_flags}>
    -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wundef -Wstrict-prototypes -Wmissing-prototypes
    -ffunction-sections -fdata-sections -fno-common -ffp-contract=off -fno-math-errno
    ${ARGN})
  set_target_properties(${target} PROPERTIES
    C_STANDARD 99 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF)
endfunction()

# mcu_sanitize(TARGET): a part of a test, which runs on this machine under the address and undefined
# behaviour sanitizers.
function(mcu_sanitize target)
  if(NOT CMAKE_CROSSCOMPILING)
    set(flags -g -fsanitize=address,undefined -fno-sanitize-recover=all)
    target_compile_options(${target} PRIVATE ${flags})
    target_link_options(${target} PRIVATE ${flags})
  endif()
endfunction()
