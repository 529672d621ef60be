"""How often memory is read and written in a run: what earns a place in the fast one.

An estimate, and the same for all kernels: a layer reads each of its inputs and writes each of its
outputs once, and uses its scratch twice, once in each direction. Where a layer multiplies and
accumulates, each multiply-accumulate reads one element of both factors, which are its first two
inputs: a convolution reads an input element once for each filter and each place of the kernel
over it, and a weight once for each pixel that it makes. What a loop holds counts once a round.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mcu_deploy.backends.interface import Constant, Layer
from mcu_deploy.plan import control
from mcu_deploy.plan.analysis import scratches
from mcu_deploy.plan.control import ControlItem, Element
from mcu_deploy.plan.lifetimes import Lifetimes
from mcu_deploy.plan.model import Copy, Step

_FACTORS = 2


def of_buffers(lives: Lifetimes) -> list[int]:
    """For each buffer the bytes that are read and written in it over a run of the network."""
    found = [0] * len(lives.buffers)
    for item, times in zip(lives.program, control.times(lives.program), strict=True):
        for buffer, size in _of_step(lives, item) if isinstance(item, Step) else _of(lives, item):
            found[buffer] += times * size
    return found


_Use = tuple[int, int]  # a buffer, and the bytes that are read or written in it


def _of(lives: Lifetimes, item: Copy | ControlItem) -> Iterator[_Use]:
    for edge in item.edges:
        if edge in lives.tensors:  # it is no constant
            whole = lives.tensors[edge].bytes
            size = item.pieces * item.bytes if isinstance(item, Element) else whole
            yield lives.tensors[edge].buffer, size


def _of_step(lives: Lifetimes, step: Step) -> Iterator[_Use]:
    layer = step.choice.layer
    for index, operand in enumerate(layer.inputs):
        if operand is not None and operand.constant is None:
            reads = layer.macs * operand.type.dtype.bytes if index < _FACTORS else 0
            yield lives.tensors[operand.edge].buffer, reads or operand.type.bytes
    for output in layer.outputs:
        yield lives.tensors[output.edge].buffer, output.type.bytes
    for size, region in scratches(step.choice):
        buffer = step.scratch if region is None else step.regions[region]
        assert buffer is not None
        yield buffer, 2 * size


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
