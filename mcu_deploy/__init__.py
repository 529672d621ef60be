"""mcu-deploy: neural networks, compiled ahead of time into one object file for Arm Cortex-M.

    import mcu_deploy
    built = mcu_deploy.build("model.onnx", "mps2-an386", "build/mps2-an386/kws", name="kws")
    with mcu_deploy.connect(built) as device:
        scores = device.run(features)

Everything that the command line does is a function here.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mcu_deploy.version import VERSION as __version__

if TYPE_CHECKING:
    from mcu_deploy.api.against import validate_against
    from mcu_deploy.api.building import Build, build
    from mcu_deploy.api.connecting import connect
    from mcu_deploy.api.creating import Project, new_project
    from mcu_deploy.api.exporting import Export, export
    from mcu_deploy.api.optimizing import Optimized, optimize_model
    from mcu_deploy.api.profiling import profile
    from mcu_deploy.api.quantizing import Quantized, quantize
    from mcu_deploy.api.reporting import write_report
    from mcu_deploy.api.running import open_device, run
    from mcu_deploy.api.tuning import Tuned, tune
    from mcu_deploy.api.validating import validate
    from mcu_deploy.compiler import compile_model
    from mcu_deploy.options import Options
    from mcu_deploy.options.means import Connection, CreationOptions
    from mcu_deploy.options.quantizing import Quantizing
    from mcu_deploy.session import Session

__all__ = [
    "Build",
    "Connection",
    "CreationOptions",
    "Export",
    "Optimized",
    "Options",
    "Project",
    "Quantized",
    "Quantizing",
    "Session",
    "Tuned",
    "__version__",
    "build",
    "compile_model",
    "connect",
    "export",
    "new_project",
    "open_device",
    "optimize_model",
    "profile",
    "quantize",
    "run",
    "tune",
    "validate",
    "validate_against",
    "write_report",
]

_HOMES = {
    name: module
    for module, names in {
        "api.against": ("validate_against",),
        "api.building": ("Build", "build"),
        "api.connecting": ("connect",),
        "api.creating": ("Project", "new_project"),
        "api.exporting": ("Export", "export"),
        "api.optimizing": ("Optimized", "optimize_model"),
        "api.profiling": ("profile",),
        "api.quantizing": ("Quantized", "quantize"),
        "api.reporting": ("write_report",),
        "api.running": ("open_device", "run"),
        "api.tuning": ("Tuned", "tune"),
        "api.validating": ("validate",),
        "compiler": ("compile_model",),
        "options": ("Options",),
        "options.means": ("Connection", "CreationOptions"),
        "options.quantizing": ("Quantizing",),
        "session": ("Session",),
    }.items()
    for name in names
}


def __getattr__(name: str) -> Any:
    # Imported at first use: `mcu-deploy --help` and the device code need no onnx.
    if name not in _HOMES:
        raise AttributeError(f"module 'mcu_deploy' has no attribute {name!r}")
    return getattr(import_module(f"mcu_deploy.{_HOMES[name]}"), name)
