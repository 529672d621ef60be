"""TFLite files with IF and WHILE."""

from __future__ import annotations

import numpy as np
import tflite
from tflite_models import Operator, Subgraph, Tensor, constant, int8, write

ONE = Tensor("x", (1, 4))


def add(one: str, two: str, output: str) -> Operator:
    return Operator("ADD", (one, two), (output,), "AddOptions")


def multiply(one: str, two: str, output: str) -> Operator:
    return Operator("MUL", (one, two), (output,), "MulOptions")


def run_if(condition: str, given: tuple[str, ...], output: str) -> Operator:
    numbers = {"ThenSubgraphIndex": 1, "ElseSubgraphIndex": 2}
    return Operator("IF", (condition, *given), (output,), "IfOptions", numbers)


def run_while(given: tuple[str, ...], outputs: tuple[str, ...]) -> Operator:
    numbers = {"CondSubgraphIndex": 1, "BodySubgraphIndex": 2}
    return Operator("WHILE", given, outputs, "WhileOptions", numbers)


def branches() -> bytes:
    """Twice the input where c is true, else the input itself."""
    return write(
        [Tensor("c", (1,), "BOOL"), ONE, Tensor("y", (1, 4)), Tensor("z", (1, 4))],
        [run_if("c", ("x",), "y"), add("y", "x", "z")], ["c", "x"], ["z"],
        others=[
            Subgraph([ONE, Tensor("y", (1, 4))], [add("x", "x", "y")], ["x"], ["y"]),
            Subgraph([ONE], [], ["x"], ["x"]),
        ],
    )  # fmt: skip


def composite(kind: str = "MUL") -> bytes:
    """Three times 2 x, by a composite that runs such an operator and hands its input on: y is the
    product and 2 x, z is y and that input."""
    options = {"Name": "test.scaled", "DecompositionSubgraphIndex": 1, "Version": 1}
    table = {"MUL": "MulOptions"}.get(kind, "")
    return write(
        [ONE, constant("k", np.float32([3])),
         *(Tensor(name, (1, 4)) for name in ("twice", "scaled", "same", "y", "z"))],
        [
            add("x", "x", "twice"),
            Operator("STABLEHLO_COMPOSITE", ("twice", "k"), ("scaled", "same"),
                     "StableHLOCompositeOptions", options),
            add("scaled", "twice", "y"), add("same", "y", "z"),
        ],
        ["x"], ["y", "z"],
        others=[
            Subgraph([ONE, Tensor("factor", (1,)), Tensor("product", (1, 4))],
                     [Operator(kind, ("x", "factor"), ("product",), table)],
                     ["x", "factor"], ["product", "x"]),
        ],
    )  # fmt: skip


def loop() -> bytes:
    """Doubles x while the counter is below the limit that goes round with it, unchanged."""
    scalar, most = Tensor("i", (1,)), Tensor("most", (1,))
    names = ("i", "x", "most")
    inside = [scalar, ONE, most]
    return write(
        [*inside, Tensor("n", (1,)), Tensor("y", (1, 4)), Tensor("same", (1,))],
        [run_while(names, ("n", "y", "same"))], names, ["n", "y", "same"],
        others=[
            Subgraph([*inside, Tensor("on", (1,), "BOOL")],
                     [Operator("LESS", ("i", "most"), ("on",), "LessOptions")], names, ["on"]),
            Subgraph(
                [*inside, constant("one", np.float32([1])), Tensor("j", (1,)),
                 Tensor("twice", (1, 4))],
                [add("i", "one", "j"), add("x", "x", "twice")], names, ["j", "twice", "most"],
            ),
        ],
    )  # fmt: skip


def pictures() -> bytes:
    """While a counter is below two, a mean of windows, channels last, is added to the picture."""
    picture, counter = Tensor("x", (1, 3, 4, 2)), Tensor("i", (), "INT32")
    two, one = constant("two", np.array(2, np.int32)), constant("one", np.array(1, np.int32))
    pool = Operator(
        "AVERAGE_POOL_2D", ("x",), ("m",), "Pool2DOptions",
        {"FilterWidth": 3, "FilterHeight": 3, "StrideW": 1, "StrideH": 1,
         "Padding": tflite.Padding.SAME},
    )  # fmt: skip
    return write(
        [picture, counter, Tensor("n", (), "INT32"), Tensor("y", (1, 3, 4, 2))],
        [run_while(("i", "x"), ("n", "y"))], ["i", "x"], ["y"],
        others=[
            Subgraph([counter, picture, two, Tensor("on", (), "BOOL")],
                     [Operator("LESS", ("i", "two"), ("on",), "LessOptions")], ["i", "x"], ["on"]),
            Subgraph([counter, picture, one, Tensor("j", (), "INT32"), Tensor("m", (1, 3, 4, 2)),
                      Tensor("s", (1, 3, 4, 2))],
                     [add("i", "one", "j"), pool, add("m", "x", "s")], ["i", "x"], ["j", "s"]),
        ],
    )  # fmt: skip


def quantized() -> bytes:
    """A chain of int8 additions of a constant, while a counter is below three."""
    x = int8("x", (1, 4), 0.1, 3)
    counter, three = Tensor("i", (), "INT32"), constant("three", np.array(3, np.int32))
    one = constant("one", np.array(1, np.int32))
    step = Tensor("step", (1, 4), "INT8", (0.1,), (3,), value=np.int8([[5, 6, 7, 8]]))
    zero = constant("zero", np.array(0, np.int32))
    return write(
        [x, zero, Tensor("n", (), "INT32"), int8("y", (1, 4), 0.1, 3)],
        [run_while(("zero", "x"), ("n", "y"))], ["x"], ["n", "y"],
        others=[
            Subgraph([counter, x, three, Tensor("on", (), "BOOL")],
                     [Operator("LESS", ("i", "three"), ("on",), "LessOptions")],
                     ["i", "x"], ["on"]),
            Subgraph([counter, x, one, step, Tensor("j", (), "INT32"), int8("s", (1, 4), 0.1, 3)],
                     [add("i", "one", "j"), add("x", "step", "s")], ["i", "x"], ["j", "s"]),
        ],
    )  # fmt: skip


def over_time(rounds: int = 3, front: int = 0, back: int = -1) -> bytes:
    """Three sums of the first elements of x as TensorFlow's converter writes a loop over time, with
    a second counter from 5 on; a round joins the list of the sums anew, from `front` on, its own
    and `back` others."""
    counter, other = Tensor("i", (), "INT32"), Tensor("o", (), "INT32")
    x, sums, total = Tensor("x", (3, 1, 2)), Tensor("sums", (3, 1, 2)), Tensor("total", (1, 2))
    given = ("i", "o", "sums", "total", "x")
    states = [counter, other, sums, total, x]

    def number(name: str, value: object) -> Tensor:
        return constant(name, np.array(value, np.int32))

    def whole(name: str, *shape: int) -> Tensor:
        return Tensor(name, shape, "INT32")

    ask = Subgraph(
        [*states, number("limit", rounds), number("far", 20), Tensor("a", (), "BOOL"),
         Tensor("b", (), "BOOL"), Tensor("on", (), "BOOL")],
        [Operator("LESS", ("i", "limit"), ("a",), "LessOptions"),
         Operator("LESS", ("o", "far"), ("b",), "LessOptions"),
         Operator("LOGICAL_AND", ("a", "b"), ("on",), "LogicalAndOptions")], given, ["on"],
    )  # fmt: skip
    body = Subgraph(
        [*states, number("one", 1), number("alone", [1]), number("all", [-1, -1]),
         number("rest", [back, -1, -1]), number("begin", [0, 0]), number("first", [front, 0, 0]),
         number("row", [1, 1, 2]), whole("j"), whole("p"), whole("i1", 1), whole("j1", 1),
         whole("size", 3), whole("place", 3), Tensor("now", (1, 2)), Tensor("sum", (1, 2)),
         Tensor("before", (1, 1, 1)), Tensor("element", (1, 1, 2)), Tensor("after", (1, 1, 2)),
         Tensor("joined", (3, 1, 2))],
        [add("i", "one", "j"), add("one", "o", "p"),
         Operator("GATHER", ("x", "i"), ("now",), "GatherOptions"), add("total", "now", "sum"),
         Operator("RESHAPE", ("i", "alone"), ("i1",)),
         Operator("CONCATENATION", ("i1", "all"), ("size",), "ConcatenationOptions"),
         Operator("SLICE", ("sums", "first", "size"), ("before",), "SliceOptions"),
         Operator("RESHAPE", ("j", "alone"), ("j1",)),
         Operator("CONCATENATION", ("j1", "begin"), ("place",), "ConcatenationOptions"),
         Operator("SLICE", ("sums", "place", "rest"), ("after",), "SliceOptions"),
         Operator("RESHAPE", ("sum", "row"), ("element",)),
         Operator("CONCATENATION", ("before", "element", "after"), ("joined",),
                  "ConcatenationOptions")],
        given, ["j", "p", "joined", "sum", "x"],
    )  # fmt: skip
    results = [whole("n"), whole("m"), *(Tensor(name, (3, 1, 2)) for name in ("y", "same")),
               Tensor("last", (1, 2))]  # fmt: skip
    return write(
        [x, number("i", 0), number("o", 5), constant("sums", np.zeros((3, 1, 2), np.float32)),
         constant("total", np.zeros((1, 2), np.float32)), *results],
        [run_while(given, ("n", "m", "y", "last", "same"))], ["x"],
        ["n", "m", "y", "last", "same"], others=[ask, body],
    )  # fmt: skip
