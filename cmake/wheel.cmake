# The target `wheel`: a Python package with the configuration of this build, in dist/.

if(NOT DEFINED MCU_PYTHON AND EXISTS "${MCU_ROOT}/.venv/bin/python")
  set(MCU_PYTHON "${MCU_ROOT}/.venv/bin/python" CACHE FILEPATH "The Python that builds the wheel")
endif()
find_program(MCU_PYTHON python3 DOC "The Python that builds the wheel")

add_custom_target(wheel
  COMMAND "${CMAKE_COMMAND}" "-DPYTHON=${MCU_PYTHON}" "-DCONFIGURATION=${MCU_CONFIGURATION}"
          "-DSOURCE=${MCU_ROOT}" "-DOUTPUT=${PROJECT_BINARY_DIR}/dist"
          -P "${MCU_ROOT}/cmake/build_wheel.cmake"
  VERBATIM)
