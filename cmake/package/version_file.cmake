# MCU_DEPLOY_VERSION_FILE: the line with the version of the Python package. In the repository, or in a
# wheel, where this is in mcu_deploy/_data/cmake/package.
set(MCU_DEPLOY_VERSION_FILE "${CMAKE_CURRENT_LIST_DIR}/../../mcu_deploy/version.py")
if(NOT EXISTS "${MCU_DEPLOY_VERSION_FILE}")
  set(MCU_DEPLOY_VERSION_FILE "${CMAKE_CURRENT_LIST_DIR}/../../../version.py")
endif()
