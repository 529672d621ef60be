"""From C to bytes: compiler, archive, linker, and what can be read from the result.

In the order of a build: compile_network, build_crt, build_platform, link_firmware("bench"),
link_network, network_stack, second_lane_stack, measure_structs, measure_network,
link_firmware("firmware"), firmware_stack, second_core_stacks, measure_firmware, check_fit. Objects
alone have no platform and no firmware.
"""

from __future__ import annotations

from mcu_deploy.toolchain.compiler import Toolchain, build_crt, compile_network, gcc_number
from mcu_deploy.toolchain.firmware import Firmware
from mcu_deploy.toolchain.fit import MemoryUse, check_fit
from mcu_deploy.toolchain.flags import HEADERS, gcc_command_line, network_flags
from mcu_deploy.toolchain.link import build_platform, link_firmware
from mcu_deploy.toolchain.sizes import (
    FirmwareSizes,
    NetworkSizes,
    Structs,
    link_network,
    measure_firmware,
    measure_network,
    measure_structs,
)
from mcu_deploy.toolchain.stack.bound import StackBound, StackError
from mcu_deploy.toolchain.stack.programs import (
    SecondCoreStacks,
    firmware_stack,
    network_stack,
    second_core_stacks,
    second_lane_stack,
)
