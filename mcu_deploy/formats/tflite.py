"""TFLite: from a .tflite file to a graph, without TensorFlow.

`tflite_file` reads the tables, `tflite_ops` makes nodes of the operators, one file a family. The
arithmetic of the graph is that of TensorFlow Lite Micro's reference kernels (docs/arithmetic.md).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from mcu_deploy.errors import McuDeployError, ModelError, shorten
from mcu_deploy.errors.obstacles import Obstacle
from mcu_deploy.formats.imported import AssumedShape, Imported, checked, shape_option, shown
from mcu_deploy.formats.tflite_file import SIGNS_OF_DAMAGE, File, parse
from mcu_deploy.formats.tflite_graph import GraphBuilder
from mcu_deploy.formats.tflite_operation import OPEN_SIZES, Operation, Refused
from mcu_deploy.formats.tflite_ops import CUSTOM, add_custom, converters
from mcu_deploy.operators import label

SUFFIXES = (".tflite",)


_NOT_READ = "it is not read from TFLite files"


def read(path: Path, shapes: Mapping[str, Sequence[int]]) -> Imported:
    """Reads a TFLite file. Raises ModelError for damaged files, UnsupportedError for operators.

    `shapes` may only say what the file says: a converter writes the shapes of all tensors into it.
    """
    try:
        return _read(path, path.read_bytes(), shapes)
    except McuDeployError:
        raise
    except struct.error as error:
        raise ModelError(
            f"{path} is no sound TFLite file: an offset in it leads out of its "
            f"{path.stat().st_size:,} bytes. It is damaged or cut short; copy or convert it again."
        ) from error
    except SIGNS_OF_DAMAGE as error:
        text = str(error).splitlines()
        raise ModelError(
            f"{path} is no sound TFLite file ({type(error).__name__}: "
            f"{shorten(text[0]) if text else 'no further reason'}). It is damaged or cut short; "
            "copy or convert it again."
        ) from error


def _read(path: Path, raw: bytes, shapes: Mapping[str, Sequence[int]]) -> Imported:
    file = parse(raw, str(path))
    _check_shapes(file, shapes)
    if not file.outputs:
        raise ModelError(
            "The model has no output, so there is nothing to compute. Convert it with one."
        )
    assumed, problems = _assumed(file, shapes)
    builder = GraphBuilder(file.name)
    for tensor in file.inputs:
        if not tensor.unreadable:
            builder.add_input(tensor)
    left_out: list[Obstacle] = []
    outputs = {t.index: t for t in file.outputs if not t.unreadable}
    found = [*problems, *file.problems]
    for operation in file.operations:
        if not _convert(operation, builder, left_out, found):
            outputs |= {t.index: t for t in builder.leave_out(operation)}
    graph, states = builder.finish(
        file.outputs if not (left_out or found) else list(outputs.values())
    )
    remedy = OPEN_SIZES if any(o.is_open for o in file.operations) else ""
    return replace(checked(graph, (), left_out, found, assumed, remedy), states=states)


def _convert(
    operation: Operation, builder: GraphBuilder, left_out: list[Obstacle], problems: list[str]
) -> bool:
    """Whether an operator became nodes; otherwise it is told in `left_out` or `problems`."""
    convert = converters().get(operation.kind, add_custom if operation.custom else None)
    tensors = (*operation.inputs, *operation.outputs, *operation.intermediates)
    if convert is None:
        left_out.append(Obstacle(operation.kind, operation.name, _NOT_READ))
    elif not any(t is not None and t.unreadable for t in tensors):
        try:
            convert(operation, builder)
            return True
        except Refused as refused:
            left_out.append(Obstacle(operation.kind, operation.name, refused.clause))
        except ModelError as error:
            problems.append(str(error))
    elif operation.custom:
        left_out.append(Obstacle(label(CUSTOM, operation.custom), operation.name, "", weak=True))
    return False


def _check_shapes(file: File, shapes: Mapping[str, Sequence[int]]) -> None:
    """Shapes that are asked for are those of the file."""
    inputs = {tensor.name: tensor for tensor in file.inputs}
    for name, shape in shapes.items():
        if name not in inputs:
            raise ModelError(
                f"--shape names the input {name!r}, which the model does not have. Its inputs: "
                f"{', '.join(map(repr, inputs)) or 'none'}."
            )
        tensor = inputs[name]
        if tuple(shape) == tensor.type.shape:
            continue
        opened = f", which leaves {list(tensor.signature)} open," if -1 in tensor.signature else ""
        raise ModelError(
            f"The input {name!r} cannot have the shape {list(shape)}: the shapes of all tensors "
            f"behind it are in the TFLite file{opened} for {list(tensor.type.shape)}. Convert the "
            "model with that input shape, or from ONNX."
        )


def _assumed(
    file: File, shapes: Mapping[str, Sequence[int]]
) -> tuple[tuple[AssumedShape, ...], tuple[str, ...]]:
    """The inputs whose first dimension is open in the file, which has it as 1 all the same.

    And a sentence where others are open: converters write 1 there too, and mean nothing by it.
    """
    readable = [t for t in file.inputs if not t.unreadable]
    unsaid = [t for t in readable if -1 in t.signature and t.name not in shapes]
    is_open = [t for t in unsaid if t.type.rank < 2 or -1 in t.signature[1:]]
    if is_open:
        listed = ", ".join(
            f"{t.name!r} is {shown([d if d >= 0 else '' for d in t.signature])}" for t in is_open
        )
        options = " ".join(shape_option(t.name, t.type.shape) for t in is_open)
        sentence = (
            f"The model leaves sizes of its inputs open: {listed}. All tensors of the TFLite file "
            "are made for one shape; convert the model with the input shape that you want, or, if "
            f"it is the file's, say so with {options}."
        )
        return (), (sentence,)
    remedy = "convert the model with another batch to change that"
    return tuple(
        AssumedShape(t.name, "", t.type.shape[0], t.type.shape, remedy) for t in unsaid
    ), ()
