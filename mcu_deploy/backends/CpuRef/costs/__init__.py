"""What CpuRef's kernels cost: how often each part of a kernel's loops runs, times a coefficient.

Each module has `RULES`, what a layer of an operator counts, and `FITS`, the coefficients:
instructions on a Cortex-M4 with its FPU (gcc 12, -O2), fitted by benchmarks/fit_costs.py to the
counts of 3,524 different layers, of the model pack and of networks made for the operators that it
lacks. The estimate is off by 6 % in the median, and by less than 20 % for nine layers of ten;
behind each family stands how far it was off at worst (what gcc makes of an inner loop depends on
the shape). Some costs depend on the data as well: quantizing, functions of the C library, and what
that computes of float64 and of 64-bit integers. On a core without FPU the float32 families cost
many times as much; the order of CpuRef's kernels stays about the same.

Kernels whose loops are alike share a family: integers that one register holds ("int") cost alike,
whatever their width; 64-bit integers, float32 and float64 each cost their own. What a call takes,
about ten instructions, is not counted.
"""

from __future__ import annotations

from collections.abc import Mapping

from mcu_deploy.backends.CpuRef.costs.convolution import taps
from mcu_deploy.backends.CpuRef.costs.work import VIEW, Fit, Rule, Work, elements
from mcu_deploy.backends.interface import Costs, Layer
from mcu_deploy.discovery import modules

__all__ = ["FITS", "OTHER", "RULES", "VIEW", "Fit", "Work", "estimate", "taps", "work_of"]

FITS: Mapping[str, Fit] = {
    family: fit
    for _, module in modules(__name__)
    for family, fit in getattr(module, "FITS", {}).items()
}
RULES: Mapping[tuple[str, str], Rule] = {
    operator: rule
    for _, module in modules(__name__)
    for operator, rule in getattr(module, "RULES", {}).items()
}

# For each element that a kernel without a measured family writes: as much as a move and a little
# arithmetic on it.
OTHER = 10


def estimate(layer: Layer) -> Costs:
    """The costs of a layer. flash: the bytes of the constants that it reads, without code."""
    work = work_of(layer)
    if work == VIEW:
        instructions = 0.0
    elif work.family in FITS:
        coefficients = FITS[work.family].coefficients
        instructions = sum(n * c for n, c in zip(work.counts, coefficients, strict=True))
    else:
        instructions = OTHER * elements(layer)
    constants = (o.type.bytes for o in layer.inputs if o is not None and o.constant is not None)
    return Costs(layer.macs, round(instructions), flash=sum(constants))


def work_of(layer: Layer) -> Work:
    """What the kernel of a layer does."""
    rule = RULES.get((layer.node.domain, layer.op))
    if not elements(layer):
        return VIEW
    return Work("other", ()) if rule is None else rule(layer)
