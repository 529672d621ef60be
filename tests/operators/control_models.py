"""ONNX models with If, Loop and Scan, with inputs for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from control_cases import BOOL, FLOAT, INT, Types, graph_of, node
from onnx import TensorProto, helper
from operators.lab import Array, Case

OPSETS = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]


def case(
    name: str,
    nodes: Sequence[onnx.NodeProto],
    inputs: Types,
    outputs: Types,
    constants: Mapping[str, Any],
    *values: Array,
) -> Case:
    graph = graph_of(nodes, inputs, outputs, constants, name)
    model = helper.make_model(graph, opset_imports=OPSETS, ir_version=8)
    return Case(name, model, values)


def loop(
    body: onnx.GraphProto, trips: str, condition: str, states: str, outputs: str
) -> onnx.NodeProto:
    inputs = [trips, condition, *states.split()]
    return helper.make_node("Loop", inputs, outputs.split(), body=body)


def number(value: int) -> Array:
    return np.array(value, np.int64)


def random(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float32)


CONTROL: Types = {"i": (INT, []), "go": (BOOL, [])}


# ---- A sequence of 28 rows of 28 through an LSTM of 20 that is written out as a body ----

STEPS, WIDTH, HIDDEN = 28, 28, 20


def lstm_constants() -> dict[str, Array]:
    scale = np.float32(0.3)
    return {
        "w": random(1, WIDTH, 4 * HIDDEN) * scale,
        "r": random(2, HIDDEN, 4 * HIDDEN) * scale,
        "b": random(3, 4 * HIDDEN) * scale,
        "zeros": np.zeros((1, HIDDEN), np.float32),
        "steps": number(STEPS),
        "yes": np.array(True),
    }


def lstm_step(x: str) -> list[onnx.NodeProto]:
    """The next h and c; the weights w, r and b are read from outside."""
    return [
        node("MatMul", f"{x} w", "xw"),
        node("MatMul", "h r", "hr"),
        node("Add", "xw hr", "both"),
        node("Add", "both b", "gates"),
        node("Split", "gates", "gi gf gc go_", axis=1),
        node("Sigmoid", "gi", "si"),
        node("Sigmoid", "gf", "sf"),
        node("Tanh", "gc", "tc"),
        node("Sigmoid", "go_", "so"),
        node("Mul", "sf c", "kept"),
        node("Mul", "si tc", "new"),
        node("Add", "kept new", "c1"),
        node("Tanh", "c1", "t1"),
        node("Mul", "so t1", "h1"),
        node("Identity", "h1", "y"),
    ]


_STATES: Types = {"h": (FLOAT, [1, HIDDEN]), "c": (FLOAT, [1, HIDDEN])}
_NEXT: Types = {"h1": (FLOAT, [1, HIDDEN]), "c1": (FLOAT, [1, HIDDEN])}
_LSTM: Types = {"hn": (FLOAT, [1, HIDDEN]), "cn": (FLOAT, [1, HIDDEN])}


def lstm_by_loop() -> Case:
    """The body gathers the row of the round from the sequence, which it reads from outside."""
    body = graph_of(
        [node("Gather", "seq i", "row", axis=0), *lstm_step("row"), node("Identity", "go", "more")],
        {**CONTROL, **_STATES},
        {"more": (BOOL, []), **_NEXT, "y": (FLOAT, [1, HIDDEN])},
    )
    return case(
        "lstm_by_loop",
        [loop(body, "steps", "yes", "zeros zeros", "hn cn ys")],
        {"seq": (FLOAT, [STEPS, 1, WIDTH])},
        {**_LSTM, "ys": (FLOAT, [STEPS, 1, HIDDEN])},
        lstm_constants(),
        random(4, STEPS, 1, WIDTH),
    )


def lstm_by_scan(reverse: int) -> Case:
    body = graph_of(
        lstm_step("x"),
        {**_STATES, "x": (FLOAT, [1, WIDTH])},
        {**_NEXT, "y": (FLOAT, [1, HIDDEN])},
    )
    scan = helper.make_node(
        "Scan", ["zeros", "zeros", "seq"], ["hn", "cn", "ys"], body=body, num_scan_inputs=1,
        scan_input_directions=[reverse], scan_output_directions=[reverse],
        scan_input_axes=[1], scan_output_axes=[1],
    )  # fmt: skip
    return case(
        f"lstm_by_scan_{reverse}",
        [scan],
        {"seq": (FLOAT, [1, STEPS, WIDTH])},
        {**_LSTM, "ys": (FLOAT, [1, STEPS, HIDDEN])},
        lstm_constants(),
        random(4, 1, STEPS, WIDTH),
    )


# ---- Loops ----


def counted(trips: int) -> Case:
    """trips and the condition are tensors of the caller; nothing is collected."""
    body = graph_of(
        [
            node("Cast", "i", "fi", to=FLOAT),
            node("Add", "s fi", "s1"),
            node("ReduceSum", "s1", "sum", keepdims=0),
            node("Less", "sum limit", "more"),
        ],
        {**CONTROL, "s": (FLOAT, [3])},
        {"more": (BOOL, []), "s1": (FLOAT, [3])},
    )
    return case(
        f"counted_{trips}",
        [loop(body, "trips", "start", "x", "y")],
        {"trips": (INT, []), "start": (BOOL, []), "x": (FLOAT, [3]), "limit": (FLOAT, [])},
        {"y": (FLOAT, [3])},
        {},
        number(trips), np.array(True), random(7, 3), np.array(40, np.float32),
    )  # fmt: skip


def never() -> Case:
    """The condition is false from the begin: what goes in comes out."""
    made = counted(9)
    return Case("never", made.model, (number(9), np.array(False), *made.inputs[2:]))


def exchanged() -> Case:
    """Two states change places in every round, a third gets what one of them was."""
    body = graph_of(
        [node("Identity", "go", "more"), node("Identity", "b", "a1"), node("Identity", "a", "b1"),
         node("Reshape", "b1 flat", "c1"), node("Add", "a b", "both")],
        {**CONTROL, "a": (FLOAT, [2, 2]), "b": (FLOAT, [2, 2]), "c": (FLOAT, [4])},
        {"more": (BOOL, []), "a1": (FLOAT, [2, 2]), "b1": (FLOAT, [2, 2]), "c1": (FLOAT, [4]),
         "both": (FLOAT, [2, 2])},
    )  # fmt: skip
    outputs: Types = {
        "an": (FLOAT, [2, 2]), "bn": (FLOAT, [2, 2]), "cn": (FLOAT, [4]), "all": (FLOAT, [5, 2, 2]),
    }  # fmt: skip
    return case(
        "exchanged",
        [loop(body, "five", "", "x z w", "an bn cn all")],
        {"x": (FLOAT, [2, 2]), "z": (FLOAT, [2, 2]), "w": (FLOAT, [4])},
        outputs,
        {"five": number(5), "flat": np.array([4], np.int64)},
        random(1, 2, 2), random(2, 2, 2), random(3, 4),
    )  # fmt: skip


def windows() -> Case:
    """Each round reads rows from where it is: three on, and two back from the third."""
    body = graph_of(
        [
            node("Identity", "go", "more"),
            node("Mul", "i two", "at"),
            node("Unsqueeze", "at zero", "from"),
            node("Add", "at three", "last"),
            node("Unsqueeze", "last zero", "to"),
            node("Slice", "x from to", "window"),
            node("Sub", "to one", "back"),
            node("Slice", "x back from zero down", "reversed"),
            node("Concat", "window reversed", "rows", axis=0),
        ],
        CONTROL,
        {"more": (BOOL, []), "rows": (FLOAT, [5, 2])},
    )
    ends = {"zero": [0], "one": [1], "down": [-1]}
    constants = {name: np.array(value, np.int64) for name, value in ends.items()}
    return case(
        "windows",
        [loop(body, "four", "", "", "all")],
        {"x": (FLOAT, [9, 2])},
        {"all": (FLOAT, [4, 5, 2])},
        {**constants, "two": number(2), "three": number(3), "four": number(4)},
        random(11, 9, 2),
    )


def loop_in_loop() -> Case:
    """The inner loop goes on with the outer one's state and reads the outer round's number."""
    inner = graph_of(
        [node("Identity", "igo", "imore"), node("Cast", "j", "fj", to=FLOAT),
         node("Mul", "fj fi", "step"), node("Add", "t step", "t1")],
        {"j": (INT, []), "igo": (BOOL, []), "t": (FLOAT, [3])},
        {"imore": (BOOL, []), "t1": (FLOAT, [3])},
        name="inner",
    )  # fmt: skip
    body = graph_of(
        [node("Identity", "go", "more"), node("Cast", "i", "fi", to=FLOAT),
         loop(inner, "four", "", "s", "s1"), node("Relu", "s1", "seen")],
        {**CONTROL, "s": (FLOAT, [3])},
        {"more": (BOOL, []), "s1": (FLOAT, [3]), "seen": (FLOAT, [3])},
    )  # fmt: skip
    return case(
        "loop_in_loop",
        [loop(body, "three", "", "x", "y all")],
        {"x": (FLOAT, [3])},
        {"y": (FLOAT, [3]), "all": (FLOAT, [3, 3])},
        {"three": number(3), "four": number(4)},
        random(5, 3),
    )


def if_in_loop() -> Case:
    """What happens in a round depends on the state; both branches read outer values."""
    then = graph_of([node("Sub", "s x", "t")], {}, {"t": (FLOAT, [4])}, name="then")
    other = graph_of(
        [node("Add", "s x", "u"), node("Mul", "u two", "e")], {}, {"e": (FLOAT, [4])}, name="other"
    )
    body = graph_of(
        [node("Identity", "go", "more"), node("ReduceMax", "s", "top", keepdims=0),
         node("Greater", "top limit", "high"),
         helper.make_node("If", ["high"], ["s1"], then_branch=then, else_branch=other),
         node("Neg", "s1", "seen")],
        {**CONTROL, "s": (FLOAT, [4])},
        {"more": (BOOL, []), "s1": (FLOAT, [4]), "seen": (FLOAT, [4])},
    )  # fmt: skip
    return case(
        "if_in_loop",
        [loop(body, "six", "", "x", "y all")],
        {"x": (FLOAT, [4])},
        {"y": (FLOAT, [4]), "all": (FLOAT, [6, 4])},
        {"six": number(6), "limit": np.array(3, np.float32), "two": np.array(2, np.float32)},
        random(6, 4),
    )


# ---- Scan ----


def scan_of_two() -> Case:
    """Two sequences along different axes, one of them backwards, and two results."""
    body = graph_of(
        [node("Mul", "a b", "p"), node("Add", "s p", "s1"), node("Sub", "s1 a", "d"),
         node("Identity", "s", "before")],
        {"s": (FLOAT, [3]), "a": (FLOAT, [3]), "b": (FLOAT, [3])},
        {"s1": (FLOAT, [3]), "d": (FLOAT, [3]), "before": (FLOAT, [3])},
    )  # fmt: skip
    scan = helper.make_node(
        "Scan", ["x", "as", "bs"], ["y", "ds", "befores"], body=body, num_scan_inputs=2,
        scan_input_axes=[0, -1], scan_input_directions=[1, 0],
        scan_output_axes=[1, 0], scan_output_directions=[0, 1],
    )  # fmt: skip
    return case(
        "scan_of_two",
        [scan],
        {"x": (FLOAT, [3]), "as": (FLOAT, [5, 3]), "bs": (FLOAT, [3, 5])},
        {"y": (FLOAT, [3]), "ds": (FLOAT, [3, 5]), "befores": (FLOAT, [5, 3])},
        {},
        random(1, 3), random(2, 5, 3), random(3, 3, 5),
    )  # fmt: skip


def scan_of_batches(lengths: bool = False) -> Case:
    """Opset 8: two sequences of each of three items, one of them backwards."""
    body = graph_of(
        [node("Mul", "a b", "p"), node("Add", "s p", "s1"), node("Sub", "s1 a", "d")],
        {"s": (FLOAT, [3]), "a": (FLOAT, [3]), "b": (FLOAT, [1])},
        {"s1": (FLOAT, [3]), "d": (FLOAT, [3])},
    )
    scan = helper.make_node(
        "Scan", ["n" if lengths else "", "x", "as", "bs"], ["y", "ds"], body=body,
        num_scan_inputs=2, directions=[1, 0],
    )  # fmt: skip
    made = case(
        "scan_of_batches",
        [scan],
        {"x": (FLOAT, [3, 3]), "as": (FLOAT, [3, 5, 3]), "bs": (FLOAT, [3, 5, 1])},
        {"y": (FLOAT, [3, 3]), "ds": (FLOAT, [3, 5, 3])},
        {"n": np.array([5, 1, 4], np.int64)} if lengths else {},
        random(1, 3, 3), random(2, 3, 5, 3), random(3, 3, 5, 1),
    )  # fmt: skip
    made.model.opset_import[0].version = 8
    return made


# ---- If ----


def if_of_images(taken: bool) -> Case:
    """Both branches read a convolution's output, which lies channel-last; one returns it."""
    then = graph_of(
        [node("Conv", "f v", "g", pads=[1, 1, 1, 1]), node("Relu", "g", "t")],
        {},
        {"t": (FLOAT, [1, 4, 5, 5])},
        name="then",
    )
    other = graph_of([node("Identity", "f", "e")], {}, {"e": (FLOAT, [1, 4, 5, 5])}, name="other")
    return case(
        f"if_of_images_{int(taken)}",
        [node("Conv", "x k", "f", pads=[1, 1, 1, 1]),
         helper.make_node("If", ["which"], ["h"], then_branch=then, else_branch=other),
         node("Conv", "h v", "y", pads=[1, 1, 1, 1])],
        {"x": (FLOAT, [1, 3, 5, 5]), "which": (BOOL, [])},
        {"y": (FLOAT, [1, 4, 5, 5])},
        {"k": random(1, 4, 3, 3, 3), "v": random(2, 4, 4, 3, 3)},
        random(3, 1, 3, 5, 5), np.array(taken),
    )  # fmt: skip


def if_of_twins(taken: bool) -> Case:
    """A branch may give one value twice, a constant, or what it reads."""
    then = graph_of(
        [node("Neg", "x", "n"), node("Identity", "n", "m"), node("Identity", "x", "same"),
         node("Identity", "k", "fixed")],
        {}, {t: (FLOAT, [3]) for t in ("n", "m", "same", "fixed")}, {"k": random(9, 3)},
        name="then",
    )  # fmt: skip
    other = graph_of(
        [node("Abs", "x", "p"), node("Add", "x p", "q"), node("Identity", "q", "r"),
         node("Identity", "p", "s")],
        {}, {t: (FLOAT, [3]) for t in ("q", "p", "r", "s")}, name="other",
    )  # fmt: skip
    return case(
        f"if_of_twins_{int(taken)}",
        [helper.make_node("If", ["which"], ["a", "b", "c", "d"], then_branch=then,
                          else_branch=other),
         node("Sub", "x a", "z")],
        {"x": (FLOAT, [3]), "which": (BOOL, [])},
        {n: (FLOAT, [3]) for n in "abcdz"},
        {},
        random(3, 3), np.array(taken),
    )  # fmt: skip


# ---- Integers ----


def quantized_loop() -> Case:
    """A body of int8 between its QuantizeLinear and DequantizeLinear."""
    scales = {"sx": np.float32(0.02), "zx": np.int8(3), "sw": np.float32(0.01), "zw": np.int8(0)}
    body = graph_of(
        [node("Identity", "go", "more"), node("DequantizeLinear", "s sx zx", "fs"),
         node("DequantizeLinear", "w sw zw", "fw"), node("MatMul", "fs fw", "fm"),
         node("Add", "fm fs", "fa"), node("QuantizeLinear", "fa sx zx", "s1")],
        {**CONTROL, "s": (TensorProto.INT8, [1, 8])},
        {"more": (BOOL, []), "s1": (TensorProto.INT8, [1, 8])},
    )  # fmt: skip
    body.output.append(helper.make_tensor_value_info("s1", TensorProto.INT8, [1, 8]))
    generator = np.random.default_rng(5)
    return case(
        "quantized_loop",
        [loop(body, "four", "", "x", "y all")],
        {"x": (TensorProto.INT8, [1, 8])},
        {"y": (TensorProto.INT8, [1, 8]), "all": (TensorProto.INT8, [4, 1, 8])},
        {**scales, "four": number(4), "w": generator.integers(-99, 99, (8, 8), np.int8)},
        generator.integers(-128, 127, (1, 8), np.int8),
    )


def all_cases() -> list[Case]:
    return [
        lstm_by_loop(), lstm_by_scan(0), lstm_by_scan(1), counted(4), counted(0), counted(1000),
        never(), exchanged(), windows(), loop_in_loop(), if_in_loop(), scan_of_two(),
        scan_of_batches(), if_of_images(True), if_of_images(False), if_of_twins(True),
        if_of_twins(False), quantized_loop(),
    ]  # fmt: skip
