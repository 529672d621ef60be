"""Whether a workload fits its layer, and holds nothing that a backend must not write.

Every backend's workloads pass here before they are believed: those of the static backends, of the
dynamic ones, and of files. All raise Nonsense.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from mcu_deploy.backends.c_rules import check_function, check_headers, identifier, require
from mcu_deploy.backends.layer import Layer
from mcu_deploy.backends.offer_check import check_costs, check_in_place
from mcu_deploy.backends.typed import require_typed
from mcu_deploy.backends.workload import (
    Argument,
    CFunction,
    Parameter,
    RegionCall,
    RegionKind,
    Role,
    Workload,
)

_LARGEST_ALIGNMENT = 4096
_LARGEST_MEMORY = 1 << 30
FLOAT32_LARGEST = (2 - 2.0**-23) * 2.0**127
# Through these any element is read and written.
_BYTES = frozenset(("void", "char", "unsigned char", "uint8_t"))
_OTHER_NAMES = {
    "int8_t": ("signed char",), "int16_t": ("short", "short int"), "int32_t": ("int",),
    "uint16_t": ("unsigned short",), "uint32_t": ("unsigned", "unsigned int"),
    "int64_t": ("long long",), "uint64_t": ("unsigned long long",),
}  # fmt: skip
# The types of parameters that are numbers, with what they hold.
_SCALARS = {
    "int32_t": (-(2**31), 2**31 - 1), "uint32_t": (0, 2**32 - 1),
    "float": (-FLOAT32_LARGEST, FLOAT32_LARGEST),
}  # fmt: skip
# Inputs of ONNX's operators whose values say no more than the types and shapes, which are known.
_KNOWN_BEFORE = {
    "CastLike": (1,), "ConstantOfShape": (0,), "Dropout": (1, 2), "Expand": (1,), "EyeLike": (0,),
    "MaxUnpool": (2,),
    "OneHot": (1,), "Range": (1,), "Reshape": (1,), "Resize": (1, 2, 3), "Shape": (0,),
    "Size": (0,), "Slice": (2,), "Split": (1,), "Squeeze": (1,), "Tile": (1,), "TopK": (1,),
    "Unsqueeze": (1,), "Upsample": (1,),
}  # fmt: skip


def check_workload(workload: Workload, layer: Layer) -> None:
    """Raises Nonsense where a workload breaks a rule of C text, or does not fit its layer."""
    require_typed(workload, Workload, "its workload")
    check_costs(workload.costs, "the workload's costs")
    for constant in workload.constants:
        _require_alignment(constant.alignment, identifier(constant.stem, "a constant's stem"))
    require(
        0 <= workload.scratch_bytes <= _LARGEST_MEMORY,
        f"its scratch memory has {workload.scratch_bytes} bytes",
    )
    for region in workload.regions:
        size = region.bytes
        require(1 <= size <= _LARGEST_MEMORY, f"the region {region.name!r} has {size} bytes")
    if workload.function is None:
        _check_view(workload, layer)
        return
    _check_code(workload.function, workload.helpers, workload.headers)
    _require_as_many(workload.function.parameters, workload.arguments, "arguments")
    for argument, parameter in zip(workload.arguments, workload.function.parameters, strict=True):
        _check_argument(argument, parameter, workload, layer)
    _check_all_there(workload, layer)
    check_in_place(workload.in_place, len(layer.inputs), len(layer.outputs), workload.scratch_bytes)
    for fact in workload.in_place:
        _require_computed(layer, fact.input)


def check_call(call: RegionCall) -> None:
    """Raises Nonsense where the call of a memory manager cannot be made."""
    require_typed(call, RegionCall, "its call")
    _check_code(call.function, call.helpers, call.headers)
    _require_as_many(call.function.parameters, call.regions, "regions")
    for region in call.regions:
        require(region.kind is RegionKind.PRIVATE, f"the region {region.name!r} is not private")
    for parameter in call.function.parameters:
        _require_star(parameter)


def _check_code(function: CFunction, helpers: Sequence[CFunction], headers: Sequence[str]) -> None:
    """A function that the network calls, and what it calls itself, in the order given."""
    check_headers(headers)
    known: set[str] = set()
    for helper in helpers:
        check_function(helper, known)
        known.add(helper.stem)
    require(not function.inline, f"the function {function.stem} is called as a helper")
    check_function(function, known)


def _check_view(workload: Workload, layer: Layer) -> None:
    """Without a function the output is the first input's memory."""
    _require_as_many((), workload.arguments, "arguments")
    source = layer.optional(0)
    require(source is not None, "a workload without a function needs a first input")
    assert source is not None
    require(
        len(layer.outputs) == 1 and source.type.bytes == layer.output.type.bytes,
        "a workload has no function, but its output is not the bytes of its first input",
    )


def _check_argument(
    argument: Argument, parameter: Parameter, workload: Workload, layer: Layer
) -> None:
    """An argument refers to something that is there, by a pointer that fits, or is a number."""
    role, index = argument.role, argument.index
    require(role is not Role.SIZE, "an argument is the size of a run, which no backend knows")
    if role is Role.SCALAR:
        _check_scalar(argument.value, parameter)
        return
    _require_star(parameter)
    if role is Role.SCRATCH:
        require(workload.scratch_bytes > 0, "an argument is the scratch memory, of 0 bytes")
        require(index == 0, f"an argument is scratch memory {index}, and there is but one")
        return
    things: dict[Role, Sequence[Any]] = {
        Role.INPUT: layer.inputs,
        Role.OUTPUT: layer.outputs,
        Role.CONSTANT: workload.constants,
        Role.REGION: workload.regions,
    }
    count = len(things[role])
    require(0 <= index < count, f"an argument is {role.value} {index}, and there are {count}")
    what = f"the parameter {parameter.name} gets {role.value} {index}"
    if role is Role.INPUT:
        _require_computed(layer, index)
        _require_pointer(parameter, layer.input(index).type.dtype.c_type, what)
    elif role is Role.OUTPUT:
        _require_pointer(parameter, layer.outputs[index].type.dtype.c_type, what)
        require("const" not in parameter.ctype, f"{what}, and is a pointer to const")
    elif role is Role.CONSTANT:
        _require_pointer(parameter, workload.constants[index].ctype, what)
        require("const" in parameter.ctype, f"{what}, and is no pointer to const")


def _check_scalar(value: float, parameter: Parameter) -> None:
    """A number that the parameter's type holds. Not -0, which equals 0: equal ones are shared."""
    ctype = parameter.ctype.strip()
    what = f"the parameter {parameter.name} gets the number {value}"
    require(ctype in _SCALARS, f"{what}, and is {ctype!r}, none of {', '.join(_SCALARS)}")
    low, high = _SCALARS[ctype]
    fits = low <= value <= high and (ctype == "float" or value.is_integer())
    require(fits and (value != 0 or math.copysign(1, value) > 0), f"{what}, which is no {ctype}")


def _require_star(parameter: Parameter) -> None:
    require("*" in parameter.ctype, f"the parameter {parameter.name} is no pointer")


def _require_pointer(parameter: Parameter, element: str, what: str) -> None:
    """A pointer to the elements, or to bytes."""
    target = re.fullmatch(r"(?P<words>[\w ]+)\*\s*(?:const\s*)?", parameter.ctype)
    words = "" if target is None else target["words"]
    plain = " ".join(word for word in words.split() if word not in ("const", "volatile"))
    fits = plain in _BYTES or plain in (element, *_OTHER_NAMES.get(element, ()))
    require(fits, f"{what}, of {element}, but is {parameter.ctype.strip()!r}")


def _check_all_there(workload: Workload, layer: Layer) -> None:
    """Every output is written; every computed input is read, if there is something to write."""
    there = {(argument.role, argument.index) for argument in workload.arguments}
    for index in range(len(layer.outputs)):
        require((Role.OUTPUT, index) in there, f"output {index} is no argument: nobody writes it")
    if all(output.type.elements == 0 for output in layer.outputs):
        return
    known = () if layer.domain else _KNOWN_BEFORE.get(layer.op, ())
    for index, operand in enumerate(layer.inputs):
        is_read = operand is not None and operand.constant is None and index not in known
        require(
            not is_read or (Role.INPUT, index) in there,
            f"input {index} is no argument: nobody reads it",
        )


def _require_computed(layer: Layer, index: int) -> None:
    operand = layer.optional(index)
    require(operand is not None, f"input {index} is referred to, which is absent")
    assert operand is not None
    require(
        operand.constant is None,
        f"input {index} is referred to, a constant; make it one of the workload's constants",
    )


def _require_as_many(parameters: Sequence[Any], given: Sequence[Any], what: str) -> None:
    require(
        len(parameters) == len(given),
        f"the function has {len(parameters)} parameters, but the call {len(given)} {what}",
    )


def _require_alignment(alignment: int, stem: str) -> None:
    fits = 1 <= alignment <= _LARGEST_ALIGNMENT and alignment & (alignment - 1) == 0
    clause = f"not a power of two from 1 to {_LARGEST_ALIGNMENT}"
    require(fits, f"the alignment of {stem} is {alignment}, {clause}")
