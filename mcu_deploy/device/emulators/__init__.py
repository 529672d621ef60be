"""Emulators behind one interface, and the host's own process as one of them."""

from mcu_deploy.device.emulators.interface import (
    Emulator,
    choose_emulator,
    launcher_named,
    launchers,
    launchers_for,
    open_emulator,
)
