"""How a model of float32 becomes one of int8 (docs/quantize.md)."""

from __future__ import annotations

from dataclasses import dataclass

from mcu_deploy.errors import UsageError
from mcu_deploy.options.checked import Checked
from mcu_deploy.options.flags import option

BORDERS = ("int8", "uint8", "int16", "float")


@dataclass(frozen=True)
class Quantizing(Checked):
    """io: the type of the new inputs and outputs. sensitivity: whether to measure what each layer
    gains in float32; budget: which layers stay so ("35dB", "1%", "200000cycles"). weights_only:
    "int8" or "int4" leaves all computing in float32. int16_activations: whether tensors have 16
    bits wherever builds compute that.
    """

    io: str = option(
        "int8", "--io", "The type of inputs and outputs: int8, uint8, float, which takes four "
        "bytes an element of RAM and a layer that converts, or with --int16-activations int16.",
        words=lambda: BORDERS,
    )  # fmt: skip
    sensitivity: bool = option(
        False, "--sensitivity", "Measure what each layer gains in float32, and by int16 around it."
    )
    budget: str | None = option(
        None, "--budget", "Keep layers in int16 or float32: 35dB, an SQNR to reach; 1%, points of "
        "top-1 that may be lost; 200000cycles, on --board.",
    )  # fmt: skip
    weights_only: str | None = option(
        None, "--weights-only", "int8 or int4: quantize the weights alone, of dense layers to so "
        "many bits, and compute in float32, for cores with an FPU.",
    )  # fmt: skip
    int16_activations: bool = option(
        False, "--int16-activations", "Activations of int16 where builds have kernels for it: more "
        "accuracy, twice the RAM, and more time.",
    )  # fmt: skip

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.io == "int16" and not self.int16_activations:
            raise UsageError("--io int16 is for --int16-activations. Give both, or another --io.")
        if self.int16_activations and self.weights_only is not None:
            raise UsageError(
                "--weights-only leaves activations in float32, and --int16-activations makes them "
                "integers. Leave one out."
            )
        if self.weights_only not in (None, "int8", "int4"):
            raise UsageError(
                f"--weights-only {self.weights_only} is not known; it is int8 or int4."
            )
        if self.weights_only is not None and self.io == "uint8":
            raise UsageError(
                "--weights-only leaves inputs and outputs in float32, and --io uint8 makes them "
                "integers. Leave one out."
            )
        if self.weights_only is not None and (self.sensitivity or self.budget is not None):
            raise UsageError(
                "--weights-only leaves every layer in float32, and --sensitivity and --budget ask "
                "which of them have to be. Leave one out."
            )
