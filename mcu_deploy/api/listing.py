"""Which operators there are: of ONNX, of TFLite, and who computes them."""

from __future__ import annotations

from dataclasses import dataclass

from mcu_deploy.backends.registry import Registry
from mcu_deploy.formats import onnx_functions, qoperator, tflite_ops
from mcu_deploy.operators import Operator, control, label, registry

NATIVE, REAL, MOVED = "in integers", "through float32", "as bytes"
NOT = "stays as it is"
BY_TFLITE = "as TFLite-Micro has it"
WHAT_QUANTIZED = {
    NATIVE: "by rules of its own on the integers, or by a table made when the model is compiled",
    REAL: "each element is dequantized, computed in float32 and quantized again, in one pass",
    MOVED: "elements are copied, whatever they mean, where input and output are quantized alike",
    BY_TFLITE: "a TFLite model's own integer arithmetic",
    NOT: "it has no integer form: on quantized tensors it is computed between a DequantizeLinear "
    "and a QuantizeLinear, and on integers, booleans and floats as they are",
}


@dataclass(frozen=True)
class OperatorRow:
    """An operator as people read it, the backends that have it, and how it is quantized (a key of
    WHAT_QUANTIZED). in_compiler: it is control flow, and the compiler's own."""

    operator: str
    backends: tuple[str, ...]
    quantized: str
    in_compiler: bool


@dataclass(frozen=True)
class Operators:
    """rows: what can be computed. tflite: the operators that are read from TFLite files, by their
    names there. forms: quantized operators of ONNX and onnxruntime that are read as others.
    functions: operators of ONNX that are read as what it defines them to be made of."""

    rows: tuple[OperatorRow, ...]
    tflite: tuple[str, ...]
    forms: tuple[str, ...]
    functions: tuple[str, ...]


def operators(backends: Registry) -> Operators:
    """The operators, with those of these backends that have each."""
    known = {id_: set(backends.create(id_).operators) for id_ in backends.ids}
    rows = [
        OperatorRow(
            name,
            tuple(id_ for id_, theirs in known.items() if name in theirs),
            _quantized(operator),
            operator in control.OPERATORS,
        )
        for name, operator in sorted(
            ((label(*key), found) for key, found in registry().items() if key[0] != "mcu"),
            key=lambda pair: pair[0],
        )
    ]
    forms = (label(domain, op) for domain, op in qoperator.READ)
    return Operators(tuple(rows), tflite_ops.read(), tuple(forms), onnx_functions.names())


def _quantized(operator: Operator) -> str:
    if operator.domain == "tflite":
        return BY_TFLITE
    if operator.moves is not None:
        return MOVED
    return {"native": NATIVE, "real": REAL}.get(operator.quantized or "", NOT)
