"""From choices and a plan to C source: text only, nothing is written here."""

from mcu_deploy.codegen.firmware import FirmwareModel, firmware_models
from mcu_deploy.codegen.network import NetworkSource, demands, generate

__all__ = ["FirmwareModel", "NetworkSource", "demands", "firmware_models", "generate"]
