"""The shapes of an ONNX model's inputs: as given, with a batch of 1, or an error that names them;
and the values of those that become constants.

A symbol is one quantity: bound in one input, it is bound in all.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import onnx
from onnx import numpy_helper

from mcu_deploy.arithmetic import Array
from mcu_deploy.errors import ModelError
from mcu_deploy.formats.imported import AssumedShape, Dimension, shape_option, shown
from mcu_deploy.formats.onnx_operators import text_of
from mcu_deploy.formats.onnx_shapes import forget_shapes
from mcu_deploy.formats.onnx_types import Untyped, dtype_of

# What stands for no name: such dimensions have nothing to do with each other.
_NO_NAMES = {"", "?", "-1", "none"}
# Names of a batch, beside those with the word "batch" in them.
_BATCHES = {"n", "b", "bs"}
# Names that exporters make up: tf2onnx and onnxruntime, torch.onnx, torch.export, Paddle.
_MADE_UP = re.compile(r"unk__\d+|(.*_)?dynamic_axes_\d+|s\d+|(p2o\.)?DynamicDimension\.\d+")

Shapes = dict[str, list[Dimension]]


def bind_values(graph: onnx.GraphProto, values: Mapping[str, Array]) -> None:
    """Makes constants of inputs. Raises ModelError where a value is not what the model says."""
    inputs = {text_of(i.name): i for i in graph.input}
    for name, value in values.items():
        found = inputs.get(name)
        if found is None or not found.type.HasField("tensor_type"):
            named = ", ".join(map(repr, inputs)) or "none"
            raise ModelError(
                f"--constant-input names {name!r}, which is no tensor that the model takes. "
                f"Its inputs: {named}."
            )
        tensor = found.type.tensor_type
        try:
            dtype = dtype_of(tensor.elem_type)
        except Untyped as untyped:
            raise ModelError(
                f"The input {name!r} {untyped}, so --constant-input cannot give it a value. "
                "Export the model with an input of numbers."
            ) from None
        dims = _dimensions(tensor) if tensor.HasField("shape") else list(value.shape)
        fits = len(dims) == value.ndim and all(
            d == s for d, s in zip(dims, value.shape, strict=True) if isinstance(d, int)
        )
        if not fits or value.dtype not in (dtype.numpy, dtype.in_files):
            raise ModelError(
                f"--constant-input gives {value.dtype} of shape {list(value.shape)} for input "
                f"{name!r}, but the model says {dtype.value} of shape {shown(dims)}. Give such an "
                "array."
            )
        # IR version 3 lists constants as inputs too.
        known = [i for i in graph.initializer if i.name == found.name]
        for initializer in known:
            graph.initializer.remove(initializer)
        constant = numpy_helper.from_array(value.view(dtype.numpy), found.name)
        graph.initializer.append(constant)
        graph.input.remove(found)


def bind_shapes(
    model: onnx.ModelProto, given: Mapping[str, Sequence[int]]
) -> tuple[tuple[AssumedShape, ...], tuple[str, ...]]:
    """Gives the inputs static shapes.

    Returns what was taken as a batch of 1, and sentences about inputs that have no shape yet or no
    elements. Raises ModelError where what is given does not fit.
    """
    graph = model.graph
    initializers = {i.name for i in graph.initializer}
    tensors = {
        text_of(i.name): i.type.tensor_type
        for i in graph.input
        if i.name not in initializers and i.type.HasField("tensor_type")
    }
    declared = {name: _dimensions(t) for name, t in tensors.items() if t.HasField("shape")}
    sequences = (f"{text_of(i.name)}_0" for i in graph.input if i.type.HasField("sequence_type"))
    _require_known(given, [*tensors, *sequences])
    bound = _bind(declared, given)
    assumed = _take_batches(bound)
    if bound != declared:
        for name, sizes in bound.items():
            tensors[name].shape.Clear()
            tensors[name].shape.SetInParent()
            for size in sizes:
                dim = tensors[name].shape.dim.add()
                if isinstance(size, int):
                    dim.dim_value = size
                else:
                    dim.dim_param = size
        forget_shapes(graph)
    return assumed, _problems(declared, bound, tensors)


def _dimensions(tensor: onnx.TypeProto.Tensor) -> list[Dimension]:
    found: list[Dimension] = []
    for dim in tensor.shape.dim:
        name = text_of(dim.dim_param)
        is_size = dim.HasField("dim_value") and dim.dim_value >= 0
        found.append(dim.dim_value if is_size else "" if name.lower() in _NO_NAMES else name)
    return found


def _require_known(given: Mapping[str, Sequence[int]], known: Sequence[str]) -> None:
    for name, shape in given.items():
        if name not in known:
            inputs = ", ".join(map(repr, known)) or "none"
            raise ModelError(
                f"--shape names the input {name!r}, which the model does not have. "
                f"Its inputs: {inputs}."
            )
        if any(size < 1 for size in shape):
            raise ModelError(
                f"--shape gives {list(shape)} for input {name!r}. Give sizes of 1 or more."
            )


def _bind(declared: Shapes, given: Mapping[str, Sequence[int]]) -> Shapes:
    """The shapes as given, and what that says of symbols in the other inputs."""
    symbols: dict[str, tuple[int, str]] = {}
    for name, shape in given.items():
        dims = declared.get(name, [""] * len(shape))
        pairs = list(zip(dims, shape, strict=False))
        if len(dims) != len(shape) or any(d not in (0, s) for d, s in pairs if isinstance(d, int)):
            raise ModelError(
                f"--shape gives {list(shape)} for input {name!r}, but the model says "
                f"{shown(dims)}. Give a shape that agrees."
            )
        for dim, size in pairs:
            before, where = symbols.setdefault(str(dim), (size, name)) if dim else (size, name)
            if isinstance(dim, str) and before != size:
                raise ModelError(
                    f"--shape makes the dimension {dim!r} {before} in input {where!r} and {size} "
                    f"in input {name!r}; in the model it is one size. Give one."
                )
    bound: Shapes = {
        name: [symbols.get(d, (d,))[0] if isinstance(d, str) else d for d in dims]
        for name, dims in declared.items()
    }
    return bound | {name: list(shape) for name, shape in given.items()}


def _take_batches(shapes: Shapes) -> tuple[AssumedShape, ...]:
    """Sets open first dimensions that look like a batch to 1, and their symbols everywhere."""
    batches = {name: str(dims[0]) for name, dims in shapes.items() if _is_batch(shapes, name)}
    symbols = {symbol for symbol in batches.values() if symbol}
    assumed = []
    for name, dims in shapes.items():
        symbol = batches.get(name) or next((str(d) for d in dims if d in symbols), "")
        if not symbol and name not in batches:
            continue
        example = [dims[0] or "batch", *dims[1:]]
        dims[:] = [1 if d in symbols else d for d in dims]
        dims[0] = 1 if name in batches else dims[0]
        if all(isinstance(d, int) for d in dims):
            remedy = f"{shape_option(name, example)} sets another"
            assumed.append(AssumedShape(name, symbol, 1, tuple(map(int, dims)), remedy))
    return tuple(assumed)


def _is_batch(shapes: Shapes, name: str) -> bool:
    """Whether the first dimension of an input is open and looks like a batch.

    A name that does not say so is no batch where it is the size of another axis too.
    """
    first, *rest = shapes[name] or [1]
    if not isinstance(first, str):
        return False
    if "batch" in first.lower():
        return first not in rest
    looks_so = not first or first.lower() in _BATCHES or _MADE_UP.fullmatch(first) is not None
    elsewhere = any(first in dims[1:] for dims in shapes.values() if first)
    return looks_so and not elsewhere and len(rest) > 0


def _problems(
    declared: Shapes, bound: Shapes, tensors: Mapping[str, onnx.TypeProto.Tensor]
) -> tuple[str, ...]:
    """Sentences: one names all dimensions that are open, with the option to type."""
    found = []
    is_open = [n for n in tensors if n not in bound or any(isinstance(d, str) for d in bound[n])]
    if is_open:
        listed = ", ".join(
            f"{n!r} is {shown(declared[n])}" if n in declared else f"{n!r} has no shape at all"
            for n in is_open
        )
        options = " ".join(
            shape_option(n, bound[n]) if n in bound else f"--shape {n}=<size>,..." for n in is_open
        )
        found.append(
            f"The model leaves sizes of its inputs open: {listed}. A microcontroller needs static "
            f"shapes; give {options} with a number for each <...>."
        )
    return tuple(found)
