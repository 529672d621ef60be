# cmake -DPYTHON= -DCONFIGURATION= -DSOURCE= -DOUTPUT= -P build_wheel.cmake
# Where hatchling is not installed, pip downloads it for the build.

set(ENV{MCU_DEPLOY_CONFIGURATION} "${CONFIGURATION}") # hatch_build.py puts it into the wheel
execute_process(COMMAND "${PYTHON}" -c "import hatchling"
  RESULT_VARIABLE no_hatchling OUTPUT_QUIET ERROR_QUIET)
if(no_hatchling)
  set(command -m pip wheel --disable-pip-version-check --no-deps --wheel-dir "${OUTPUT}" "${SOURCE}")
else()
  set(command -m hatchling build --target wheel --directory "${OUTPUT}")
endif()
execute_process(COMMAND "${PYTHON}" ${command} WORKING_DIRECTORY "${SOURCE}" RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "The wheel could not be built: see above.")
endif()
