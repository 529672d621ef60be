"""What the converters of `tflite_ops` build a graph with: edges in the order of axes they want.

TFLite's tensors end in their channels (NHWC); ONNX's operators want them second (NCHW). The graph
holds a tensor under each order that an operator wants, with a Transpose between them, which the
layouts make a view of the same memory: a convolution whose input and output lie channels last
copies nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mcu_deploy.arithmetic import Array
from mcu_deploy.errors import ModelError, UnsupportedError, shorten
from mcu_deploy.formats.imported import OwnState
from mcu_deploy.formats.tflite_operation import Operation, TfliteTensor
from mcu_deploy.formats.tflite_variables import Variable, Variables
from mcu_deploy.ir import DType, EdgeId, Graph, GraphEditor, Quantization, TensorType
from mcu_deploy.operators import tflite_factors
from mcu_deploy.operators.base import Call

# The operator set whose meaning the ONNX operators of the graph have.
OPSET = 17
# The domain of the operators that multiply by factors made of scales.
_EXACT = "tflite"
# Which of a tensor's axes stand where.
Order = tuple[int, ...]
NCHW: Order = (0, 3, 1, 2)
# Beyond the end of every axis.
FAR = 1 << 31


class GraphBuilder:
    """Collects the nodes of one network.

    An order says which axis of the file's tensor stands at each place: NCHW is (0, 3, 1, 2).
    """

    def __init__(self, name: str, editor: GraphEditor | None = None) -> None:
        self._editor = editor or GraphEditor.empty(name)
        self._edges: dict[tuple[int, Order], EdgeId] = {}
        self._written: dict[int, Order] = {}
        self.variables = Variables()
        # What SHAPE and BROADCAST_ARGS wrote, by the tensor.
        self.shapes: dict[int, Array] = {}

    def beside(self) -> GraphBuilder:
        """Builds the same graph with the tensors of another subgraph, which it numbers anew."""
        return GraphBuilder("", self._editor)

    def bind(self, tensor: TfliteTensor, edge: EdgeId) -> None:
        """Lets a tensor be an edge that is there, in the file's order."""
        self._edges[tensor.index, _natural(tensor)] = edge
        self._written[tensor.index] = _natural(tensor)

    def add_edge_input(self, name: str, type_: TensorType) -> EdgeId:
        """An input of the graph that is no tensor of the file."""
        edge = self._editor.add_edge(name, type_)
        self._editor.inputs.append(edge)
        return edge

    def add_input(self, tensor: TfliteTensor) -> None:
        """An input of the network, in the file's order."""
        if tensor.is_handle:
            raise ModelError(
                f"The input {shorten(tensor.name)!r} is a handle of a variable, which only "
                "operators of the model can have. Convert the model with its variables inside."
            )
        if tensor.index in self._written:
            raise ModelError(
                f"The model lists the input {shorten(tensor.name)!r} twice. It is damaged; convert "
                "it again."
            )
        self._editor.inputs.append(self._new_edge(tensor, _natural(tensor)))

    def read(self, tensor: TfliteTensor, order: Order | None = None) -> EdgeId:
        """The edge of a tensor whose axes stand in an order; without one as in the file."""
        wanted = order or _natural(tensor)
        _require_axes(tensor, wanted, "an operator that reads it wants")
        key = (tensor.index, wanted)
        if key not in self._edges:
            if tensor.index in self._written:
                self._edges[key] = self._transposed(tensor, wanted)
            elif tensor.value is not None:
                value = np.transpose(tensor.value, wanted)
                type_ = _ordered(tensor.type, wanted)
                self._edges[key] = self._editor.add_constant(tensor.name, value, type_)
            elif tensor.variable:
                raise UnsupportedError(
                    f"The tensor {shorten(tensor.name)!r} is variable: it keeps its value between "
                    "runs, which only UNIDIRECTIONAL_SEQUENCE_LSTM may do here. Convert the model "
                    "with its state as inputs and outputs."
                )
            else:
                raise ModelError(
                    f"The tensor {shorten(tensor.name)!r} is read before any operator writes it. "
                    "The model is damaged; convert it again."
                )
        return self._edges[key]

    def read_variable(self, operation: Operation, variable: Variable) -> None:
        """Makes an operator's output the value that a variable has here."""
        tensor = operation.output
        variable.require_type(operation, tensor)
        self._edges[tensor.index, _natural(tensor)] = self.read_state(variable, tensor.type)
        self._written[tensor.index] = _natural(tensor)

    def read_state(self, variable: Variable, type_: TensorType) -> EdgeId:
        """The value that a variable has here: in front of all that assign it what the run before
        left."""
        if variable.now is None:
            name = self._unused(variable.name, self._editor.inputs)
            variable.state = variable.now = self._editor.add_edge(name, type_)
            self._editor.inputs.append(variable.state)
        return variable.now

    def common_order(self, *tensors: TfliteTensor) -> Order | None:
        """The order in which operators wrote all of these that are no constants; None where there
        is no such one, or they have different ranks.

        What is computed element by element may be computed in any order; in this one no Transpose
        stands between it and the convolutions around it.
        """
        orders = {self._written.get(tensor.index) for tensor in tensors if tensor.value is None}
        ranks = {tensor.type.rank for tensor in tensors}
        return orders.pop() if len(orders) == len(ranks) == 1 else None

    def read_optional(self, tensor: TfliteTensor | None) -> EdgeId | None:
        """As `read`; None for an absent tensor."""
        return None if tensor is None else self.read(tensor)

    def constant(self, name: str, value: Array, quantization: Quantization | None = None) -> EdgeId:
        """A new constant that is no tensor of the file."""
        type_ = TensorType(DType.of(value.dtype), value.shape, quantization)
        return self._editor.add_constant(name, value, type_)

    def integers(self, name: str, values: ArrayLike) -> EdgeId:
        """A new constant of int64, as ONNX has axes, places and sizes."""
        return self.constant(name, np.asarray(values, np.int64))

    def edge(self, name: str, type_: TensorType) -> EdgeId:
        """A new edge between two nodes of one operator."""
        return self._editor.add_edge(name, type_)

    def add(
        self,
        operation: Operation,
        op: str,
        inputs: Sequence[EdgeId | None],
        outputs: TfliteTensor | EdgeId | Sequence[TfliteTensor | EdgeId],
        attributes: Mapping[str, Any] | None = None,
        domain: str = "",
        order: Order | None = None,
        extra_inputs: Sequence[EdgeId] = (),
        subgraphs: Mapping[str, Graph] | None = None,
    ) -> None:
        """A node that writes tensors of the file (in an order of axes), or edges of `edge`."""
        written: list[EdgeId] = []
        for tensor in (outputs,) if isinstance(outputs, (TfliteTensor, int)) else outputs:
            if isinstance(tensor, int):
                written.append(tensor)
            else:
                if tensor.index in self._written or tensor.value is not None:
                    raise operation.damaged(
                        f"it writes the tensor {shorten(tensor.name)!r}, which has a value already"
                    )
                written.append(self._new_edge(tensor, order or _natural(tensor)))
        if domain == _EXACT:
            self._require_factors(operation, op, inputs, written, attributes or {})
        self._editor.add_node(
            op, inputs, written, operation.name, attributes, domain, extra_inputs, subgraphs
        )

    def _require_factors(
        self, operation: Operation, op: str, inputs: Sequence[EdgeId | None],
        outputs: Sequence[EdgeId], attributes: Mapping[str, Any],
    ) -> None:  # fmt: skip
        """Raises UnsupportedError for scales that TFLite's arithmetic has no numbers for."""
        types = self._editor.types
        given = tuple(None if edge is None else types[edge] for edge in inputs)
        call = Call(op, attributes, (None,) * len(given), given, tuple(types[e] for e in outputs))
        if reason := tflite_factors.refusal(call):
            raise operation.unsupported(reason, "Quantize the model anew.")

    def add_function(
        self,
        operation: Operation,
        op: str,
        attributes: Mapping[str, Any] | None = None,
        domain: str = "",
    ) -> None:
        """The node that computes each element of the output from that of the input."""
        x, y = operation.input(0), operation.output
        order = self.common_order(x)
        self.add(operation, op, [self.read(x, order)], y, attributes, domain, order)

    def reshaped(self, operation: Operation, x: EdgeId, shape: tuple[int, ...]) -> EdgeId:
        """An edge with the elements of another, in another shape of as many elements."""
        type_ = self._editor.types[x]
        if type_.shape == shape:
            return x
        y = self.edge(self._editor.edges[x], replace(type_, shape=shape))
        self.add(operation, "Reshape", [x, self._shape(operation, shape)], y)
        return y

    def shape(self, edge: EdgeId) -> tuple[int, ...]:
        """The shape of an edge."""
        return self._editor.types[edge].shape

    def add_reshape(self, operation: Operation, x: EdgeId, y: TfliteTensor) -> None:
        """The Reshape that writes a tensor of the file from an edge with its elements."""
        self.add(operation, "Reshape", [x, self._shape(operation, y.type.shape)], y)

    def add_slice(
        self, operation: Operation, x: EdgeId, output: TfliteTensor | EdgeId,
        starts: Sequence[int], ends: Sequence[int], axes: Sequence[int], steps: Sequence[int],
    ) -> None:  # fmt: skip
        """The Slice of an edge, from bounds to bounds along axes; FAR: to the end of one."""
        lists = {"starts": starts, "ends": ends, "axes": axes, "steps": steps}
        bounds = (self.integers(f"{operation.name} {name}", n) for name, n in lists.items())
        self.add(operation, "Slice", [x, *bounds], output)

    def shape_of(self, operation: Operation, index: int) -> Array:
        """An input that is a shape: a constant, or what an operator wrote that knows it."""
        known = self.shapes.get(operation.input(index).index)
        return operation.constant(index) if known is None else known

    def _shape(self, operation: Operation, shape: tuple[int, ...]) -> EdgeId:
        return self.integers(f"{operation.name} shape", shape)

    @staticmethod
    def ordered(tensor: TfliteTensor, order: Order | None) -> TensorType:
        """The type of a tensor whose axes stand in an order."""
        return _ordered(tensor.type, order or _natural(tensor))

    def leave_out(self, operation: Operation) -> tuple[TfliteTensor, ...]:
        """Takes what an operator writes as given; returns what it reads of what others compute."""
        for tensor in operation.outputs:
            known = tensor.value is not None or tensor.index in self._written
            if not (known or tensor.unreadable or tensor.is_handle):
                self._editor.inputs.append(self._new_edge(tensor, _natural(tensor)))
        read = [t for t in operation.inputs if t is not None and t.index in self._written]
        return tuple(read)

    def finish_inner(self, operation: Operation, outputs: Sequence[EdgeId]) -> Graph:
        """The graph that an operator holds, with these outputs, each written by a node of it."""
        for edge in outputs:
            if self._editor.producer(edge) is None or edge in self._editor.outputs:
                copy = self.edge(self._editor.edge_name(edge), self._editor.types[edge])
                self.add(operation, "Identity", [edge], copy)
                edge = copy
            self._editor.outputs.append(edge)
        return self._editor.finish(opset=OPSET)

    def finish(self, outputs: Sequence[TfliteTensor]) -> tuple[Graph, tuple[OwnState, ...]]:
        """The graph with these outputs, in the file's order of axes, and its states."""
        self._editor.outputs = [self.read(tensor) for tensor in outputs]
        read = {v.state: v for v in self.variables if v.state is not None}
        states = tuple(self._state(read[edge], edge) for edge in sorted(read))
        return self._editor.finish(opset=OPSET), states

    def _state(self, variable: Variable, before: EdgeId) -> OwnState:
        """The state of a variable that is read before it is assigned.

        What was assigned last is an output of its own, which nobody else has.
        """
        editor, after = self._editor, variable.now
        assert after is not None
        names = {editor.edge_name(edge) for edge in editor.outputs}
        if editor.producer(after) is None or editor.edge_name(after) in names:
            name = self._unused(f"{variable.name} next", editor.outputs)
            copy = editor.add_edge(name, editor.types[after])
            editor.add_node("Identity", [after], [copy], name)
            after = copy
        editor.outputs.append(after)
        return OwnState(editor.edge_name(before), editor.edge_name(after), variable.first)

    def _unused(self, name: str, edges: Sequence[EdgeId]) -> str:
        """A name that none of these edges has."""
        taken = {self._editor.edge_name(edge) for edge in edges}
        while name in taken:
            name += "_"
        return name

    def _new_edge(self, tensor: TfliteTensor, order: Order) -> EdgeId:
        _require_axes(tensor, order, "the operator that writes it gives")
        edge = self._editor.add_edge(tensor.name, _ordered(tensor.type, order))
        self._edges[tensor.index, order] = edge
        self._written[tensor.index] = order
        return edge

    def _transposed(self, tensor: TfliteTensor, wanted: Order) -> EdgeId:
        written = self._written[tensor.index]
        edge = self._editor.add_edge(tensor.name, _ordered(tensor.type, wanted))
        perm = tuple(written.index(axis) for axis in wanted)
        source = self._edges[tensor.index, written]
        name = f"{tensor.name} transposed"
        self._editor.add_node("Transpose", [source], [edge], name, {"perm": perm})
        return edge


def _natural(tensor: TfliteTensor) -> Order:
    return tuple(range(tensor.type.rank))


def _require_axes(tensor: TfliteTensor, order: Order, wants: str) -> None:
    if sorted(order) != list(range(tensor.type.rank)):
        raise ModelError(
            f"The tensor {shorten(tensor.name)!r} has {tensor.type.rank} axes, and {wants} "
            f"{len(order)}. The model is damaged; convert it again."
        )


def _ordered(type_: TensorType, order: Order) -> TensorType:
    """The type of a tensor whose axes stand in another order."""
    quantization = type_.quantization
    if quantization is not None and quantization.axis is not None:
        quantization = replace(quantization, axis=order.index(quantization.axis))
    return TensorType(type_.dtype, tuple(type_.shape[a] for a in order), quantization)
