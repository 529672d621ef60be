"""How often memory is read and written in a run: what earns a place in the fast one.

An estimate, and the same for all kernels: a layer reads each of its inputs and writes each of its
outputs once, and uses its scratch twice, once in each direction. Where a layer multiplies and
accumulates, each multiply-accumulate reads one element of both factors, which are its first two
inputs: a convolution reads an input element once for each filter and each place of the kernel
over it, and a weight once for each pixel that it makes.
"""

from __future__ import annotations

from collections.abc import Sequence

from mcu_deploy.backends.interface import Constant, Layer
from mcu_deploy.plan.analysis import scratches
from mcu_deploy.plan.lifetimes import Lifetimes
from mcu_deploy.plan.model import Step

_FACTORS = 2


def of_buffers(lives: Lifetimes) -> list[int]:
    """For each buffer the bytes that are read and written in it over a run of the network."""
    found = [0] * len(lives.buffers)
    for item in lives.program:
        if not isinstance(item, Step):
            for edge in item.edges:
                if edge in lives.tensors:  # it is no constant
                    found[lives.tensors[edge].buffer] += lives.tensors[edge].bytes
            continue
        layer = item.choice.layer
        for index, operand in enumerate(layer.inputs):
            if operand is not None and operand.constant is None:
                once = operand.type.bytes
                reads = layer.macs * operand.type.dtype.bytes if index < _FACTORS else 0
                found[lives.tensors[operand.edge].buffer] += reads or once
        for output in layer.outputs:
            found[lives.tensors[output.edge].buffer] += output.type.bytes
        for buffer, size in _scratch_buffers(item):
            found[buffer] += 2 * size
    return found


def _scratch_buffers(step: Step) -> list[tuple[int, int]]:
    found = []
    for size, region in scratches(step.choice):
        buffer = step.scratch if region is None else step.regions[region]
        assert buffer is not None
        found.append((buffer, size))
    return found


def of_constants(layer: Layer, constants: Sequence[Constant]) -> list[int]:
    """For each constant of a layer's workload the bytes that are read of it over a run.

    The largest one is the factor; of the others (a bias, a scale, a table) an element is read for
    each element that the layer makes.
    """
    made = sum(output.type.bytes // output.type.dtype.bytes for output in layer.outputs)
    found = [made * constant.value.dtype.itemsize for constant in constants]
    if layer.macs and constants:
        sizes = [constant.value.nbytes for constant in constants]
        factor = sizes.index(max(sizes))
        found[factor] = layer.macs * constants[factor].value.dtype.itemsize
    return found
