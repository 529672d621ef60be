# Neural networks in a CMake project (docs/cmake.md):
#
#   find_package(mcu_deploy REQUIRED)
#   mcu_deploy_add_network(kws MODEL kws.onnx CORE cortex-m4 FPU fpv4-sp-d16)
#   target_link_libraries(firmware PRIVATE kws)
#   mcu_deploy_check(firmware)
cmake_minimum_required(VERSION 3.20) # DEPFILE for Make, generated files of other folders

# The program that belongs to this package, or else one of the PATH: in a virtual environment's
# lib/python3.x/site-packages/mcu_deploy/_data/cmake/package, or in the repository's cmake/package.
find_program(MCU_DEPLOY_PROGRAM mcu-deploy
  HINTS "${CMAKE_CURRENT_LIST_DIR}/../../../../../../../bin" "${CMAKE_CURRENT_LIST_DIR}/../../.venv/bin"
  DOC "The command mcu-deploy")
if(NOT MCU_DEPLOY_PROGRAM)
  set(mcu_deploy_FOUND FALSE)
  set(mcu_deploy_NOT_FOUND_MESSAGE
    "The command mcu-deploy was not found. Activate the environment that it is installed in, or name it: -DMCU_DEPLOY_PROGRAM=FILE.")
  return()
endif()
execute_process(COMMAND "${MCU_DEPLOY_PROGRAM}" --version
  OUTPUT_VARIABLE MCU_DEPLOY_VERSION OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed)
if(failed OR NOT MCU_DEPLOY_VERSION MATCHES "^mcu-deploy (.+)$")
  set(mcu_deploy_FOUND FALSE)
  set(mcu_deploy_NOT_FOUND_MESSAGE "${MCU_DEPLOY_PROGRAM} --version fails; see above.")
  return()
elseif(NOT CMAKE_MATCH_1 STREQUAL mcu_deploy_VERSION)
  set(mcu_deploy_FOUND FALSE)
  set(mcu_deploy_NOT_FOUND_MESSAGE
    "${MCU_DEPLOY_PROGRAM} is mcu-deploy ${CMAKE_MATCH_1}, and this is the package of ${mcu_deploy_VERSION}. Name the one that belongs to it: -DMCU_DEPLOY_PROGRAM=FILE.")
  return()
endif()

include("${CMAKE_CURRENT_LIST_DIR}/version_file.cmake")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${MCU_DEPLOY_VERSION_FILE}")
get_filename_component(MCU_DEPLOY_CRT "${CMAKE_CURRENT_LIST_DIR}/../../crt" ABSOLUTE)

# The runtime, as sources: each target that links a network compiles them once, with its own flags,
# however many networks it has.
if(NOT TARGET mcu_deploy::runtime)
  function(mcu_runtime id) # the one call of crt/sources.cmake
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES")
    list(REMOVE_ITEM arg_SOURCES src/mcu_run.c)
    list(TRANSFORM arg_SOURCES PREPEND "${MCU_DEPLOY_CRT}/")
    add_library(mcu_deploy_runtime INTERFACE)
    add_library(mcu_deploy::runtime ALIAS mcu_deploy_runtime)
    target_sources(mcu_deploy_runtime INTERFACE ${arg_SOURCES})
    target_include_directories(mcu_deploy_runtime INTERFACE "${MCU_DEPLOY_CRT}/include")
    target_link_libraries(mcu_deploy_runtime INTERFACE m)

    # mcu_run, and the arena that it wants: its size is MCU_ARENA_NUM_PAGES of what links this.
    add_library(mcu_deploy_arena INTERFACE)
    add_library(mcu_deploy::arena ALIAS mcu_deploy_arena)
    target_sources(mcu_deploy_arena INTERFACE
      "${MCU_DEPLOY_CRT}/src/mcu_run.c" "${MCU_DEPLOY_CRT}/arena/arena.c")
    target_link_libraries(mcu_deploy_arena INTERFACE mcu_deploy_runtime)
  endfunction()
  include("${MCU_DEPLOY_CRT}/sources.cmake")
endif()

# mcu_deploy_add_network(TARGET MODEL file (BOARD name-or-file | CORE core [FPU fpu] [CFLAGS flag...])
#   [NAME name] [OPTIMIZE_FOR goal] [OPTIONS word...] [DEPENDS file...])
#
# Compiles a model when something that is linked with TARGET is built, and again when the model, its
# files of data, its measured costs, the board file, what is asked or the version of mcu-deploy has
# changed. NAME: of the network, which is TARGET by default; OPTIONS: more words for `mcu-deploy
# build`; DEPENDS: what else it depends on. TARGET has the object, the folder of network_<name>.h, and
# the runtime.
function(mcu_deploy_add_network target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "MODEL;BOARD;CORE;FPU;NAME;OPTIMIZE_FOR"
    "CFLAGS;OPTIONS;DEPENDS")
  set(call "mcu_deploy_add_network(${target}):")
  if(arg_UNPARSED_ARGUMENTS OR arg_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "${call} these words are not understood, or lack a value: "
                        "${arg_UNPARSED_ARGUMENTS} ${arg_KEYWORDS_MISSING_VALUES}")
  elseif(NOT arg_MODEL)
    message(FATAL_ERROR "${call} which model? Give MODEL and a file.")
  elseif((arg_BOARD AND arg_CORE) OR NOT (arg_BOARD OR arg_CORE))
    message(FATAL_ERROR "${call} give BOARD or CORE, and not both.")
  elseif(arg_BOARD AND (arg_FPU OR arg_CFLAGS))
    message(FATAL_ERROR "${call} FPU and CFLAGS are for CORE; a board has its own.")
  endif()
  get_filename_component(model "${arg_MODEL}" ABSOLUTE)
  get_source_file_property(made "${model}" GENERATED)
  if(NOT EXISTS "${model}" AND NOT made AND NOT arg_DEPENDS)
    message(FATAL_ERROR "${call} there is no ${model}. Correct MODEL; where the build makes this "
                        "file, name the target that does with DEPENDS.")
  endif()
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if(NOT "C" IN_LIST languages)
    message(FATAL_ERROR "${call} the runtime is C. Add C to the LANGUAGES of the project.")
  endif()
  if(NOT arg_NAME)
    set(arg_NAME "${target}")
  endif()
  if(NOT arg_NAME MATCHES "^[A-Za-z0-9_]+$")
    message(FATAL_ERROR "${call} ${arg_NAME} cannot be part of a C symbol. Give NAME letters, digits "
                        "and underscores.")
  endif()

  if(arg_BOARD MATCHES "[/.]") # a file, and no name
    get_filename_component(arg_BOARD "${arg_BOARD}" ABSOLUTE)
  endif()
  set(processor "")
  foreach(option BOARD CORE FPU)
    if(arg_${option})
      string(TOLOWER "--${option}" word)
      list(APPEND processor ${word} "${arg_${option}}")
    endif()
  endforeach()
  if(arg_CFLAGS)
    list(JOIN arg_CFLAGS " " flags)
    list(APPEND processor "--cflags=${flags}")
  endif()

  set(folder "${CMAKE_CURRENT_BINARY_DIR}/mcu_deploy/${target}")
  set(object "${folder}/network_${arg_NAME}.o")
  set(command "${MCU_DEPLOY_PROGRAM}" build "${model}" ${processor} --name ${arg_NAME}
    -o "${folder}" --depfile "${folder}.d")
  if(arg_OPTIMIZE_FOR)
    list(APPEND command --optimize-for ${arg_OPTIMIZE_FOR})
  endif()
  list(APPEND command ${arg_OPTIONS})

  # Make does not notice a command that has changed; a file that is written when it has, it does.
  file(CONFIGURE OUTPUT "${folder}.command" CONTENT "${MCU_DEPLOY_VERSION}\n${command}\n" @ONLY)
  # The header is copied, as Ninja would make the folder of an output before, and mcu-deploy takes an
  # empty folder for a new build only.
  set(header network_${arg_NAME}.h)
  add_custom_command(OUTPUT "${object}" "${folder}_include/${header}"
    COMMAND ${command}
    COMMAND "${CMAKE_COMMAND}" -E copy "${folder}/include/${header}" "${folder}_include/${header}"
    DEPENDS "${model}" "${folder}.command" ${arg_DEPENDS}
    DEPFILE "${folder}.d"
    COMMENT "mcu-deploy: network ${arg_NAME}"
    VERBATIM)
  add_custom_target(${target}_network DEPENDS "${object}" "${folder}_include/${header}")

  add_library(${target} INTERFACE)
  add_dependencies(${target} ${target}_network)
  target_include_directories(${target} INTERFACE "${folder}_include")
  target_link_libraries(${target} INTERFACE "${object}" mcu_deploy::runtime)
  set(is_host FALSE)
  if(arg_BOARD STREQUAL "host")
    set(is_host TRUE)
  elseif(EXISTS "${arg_BOARD}")
    file(STRINGS "${arg_BOARD}" is_host REGEX "^(core|inherits) *= *\"host\"")
  endif()
  if(is_host)
    # Its object wants a fixed address, which programs have not by default. Among the libraries, as
    # the last word counts, and CMake says -pie behind the options where a project asks for it.
    target_link_libraries(${target} INTERFACE
      "$<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>")
  endif()
  set_target_properties(${target} PROPERTIES
    MCU_DEPLOY_OBJECT "${object}" MCU_DEPLOY_PROCESSOR "${processor}")
endfunction()

# mcu_deploy_check(TARGET): after each link of TARGET, `mcu-deploy check` of its objects, of the
# networks that it links, and of the image. Findings fail the build.
function(mcu_deploy_check target)
  # at the end of the folder, when all is known that it links
  cmake_language(EVAL CODE "cmake_language(DEFER CALL mcu_deploy_check_now [[${target}]])")
endfunction()

function(mcu_deploy_check_now target)
  set(objects "")
  set(processors "")
  get_target_property(rest ${target} LINK_LIBRARIES)
  while(rest)
    list(POP_FRONT rest library)
    string(REGEX REPLACE "^\\$<LINK_ONLY:(.*)>$" "\\1" library "${library}") # of a static library
    if(NOT TARGET "${library}" OR library IN_LIST seen)
      continue()
    endif()
    list(APPEND seen "${library}")
    get_target_property(object ${library} MCU_DEPLOY_OBJECT)
    if(object)
      list(APPEND objects "${object}")
      get_target_property(processor ${library} MCU_DEPLOY_PROCESSOR)
      list(JOIN processor " " text)
      list(APPEND processors "${text}")
    else()
      get_target_property(more ${library} INTERFACE_LINK_LIBRARIES)
      if(more)
        list(APPEND rest ${more})
      endif()
    endif()
  endwhile()
  set(names "${objects}")
  list(TRANSFORM names REPLACE "^.*/network_(.*)\\.o$" "\\1")
  foreach(name IN LISTS names)
    if(name IN_LIST others)
      message(FATAL_ERROR "mcu_deploy_check(${target}): two of its networks are called ${name}. Give "
                          "one of them another NAME.")
    endif()
    list(APPEND others "${name}")
  endforeach()
  list(REMOVE_DUPLICATES processors)
  list(LENGTH processors count)
  if(count EQUAL 0)
    message(FATAL_ERROR "mcu_deploy_check(${target}): it links no network. Give it one by "
                        "target_link_libraries, or leave the check out.")
  elseif(count GREATER 1)
    list(JOIN processors "; " text)
    message(FATAL_ERROR "mcu_deploy_check(${target}): its networks are for different processors: "
                        "${text}. Build all of them for one.")
  endif()
  add_custom_command(TARGET ${target} POST_BUILD
    COMMAND "${MCU_DEPLOY_PROGRAM}" check --quiet ${processor} ${objects}
            "$<TARGET_OBJECTS:${target}>" "$<TARGET_FILE:${target}>"
    COMMENT "mcu-deploy: check of ${target}"
    COMMAND_EXPAND_LISTS VERBATIM)
endfunction()
