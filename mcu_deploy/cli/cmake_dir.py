"""mcu-deploy cmake-dir: where CMake finds the package and the toolchain file."""

from __future__ import annotations

from mcu_deploy.cli.console import out, print_json
from mcu_deploy.cli.options import JsonOption


def cmake_dir(as_json: JsonOption = False) -> None:
    """Print the folder for CMake: find_package(mcu_deploy), and arm-none-eabi.cmake.

    cmake --toolchain $(mcu-deploy cmake-dir)/arm-none-eabi.cmake, or -Dmcu_deploy_DIR=...
    """
    from mcu_deploy import resources

    folder = resources.cmake()
    if as_json:
        print_json({"cmake_dir": str(folder)})
    else:
        out.print(str(folder), markup=False, highlight=False, soft_wrap=True)
