"""From an ONNX graph whose shapes are inferred to a graph of ours, subgraphs included.

What has no type of ours is left out, with all that depends on it, and told: the rest is a graph
that backends can be asked about, so that one answer names all that stands against a model.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx

from mcu_deploy.errors import ModelError
from mcu_deploy.errors.obstacles import Obstacle
from mcu_deploy.formats import onnx_resize
from mcu_deploy.formats.imported import shape_option
from mcu_deploy.formats.onnx_bodies import NAMES
from mcu_deploy.formats.onnx_counts import DOMAIN as COUNTS
from mcu_deploy.formats.onnx_early import DOMAIN as EARLY
from mcu_deploy.formats.onnx_inference import training
from mcu_deploy.formats.onnx_operators import (
    COUNTING,
    UNDEFINED,
    counts_values,
    domain_of,
    draws_values,
    gives_shapes,
    lacks,
    sized_at_run_time,
    text_of,
    too_wide,
    why_unknown,
    why_unread,
)
from mcu_deploy.formats.onnx_subgraphs import free_names, live_nodes, reads, subgraphs_of
from mcu_deploy.formats.onnx_types import (
    NoTensor,
    Open,
    Untyped,
    Value,
    array_of,
    declared_types,
    type_of,
)
from mcu_deploy.ir import DType, EdgeId, Graph, GraphEditor, TensorType
from mcu_deploy.operators import label


@dataclass
class Outcome:
    """What was read, collected over a graph and those inside of it.

    graph: what has types; it computes what it can. left_out: the nodes that are not in it.
    parts: of the graphs inside of nodes that were left out, what has types. clauses: what is said
    of tensors, with their names. open_inputs: inputs of the graph without a shape. whole: whether
    nothing is missing.
    """

    graph: Graph
    left_out: list[Obstacle] = field(default_factory=list)
    parts: list[Graph] = field(default_factory=list)
    clauses: dict[str, list[str]] = field(default_factory=dict)
    sentences: list[str] = field(default_factory=list)
    open_inputs: list[str] = field(default_factory=list)
    whole: bool = True

    def take(self, other: Outcome) -> None:
        """Adds what another one tells."""
        self.left_out += other.left_out
        self.parts += other.parts
        self.whole = self.whole and other.whole
        self.sentences += other.sentences
        for clause, names in other.clauses.items():
            self.clauses.setdefault(clause, []).extend(names)


@dataclass(frozen=True)
class Surroundings:
    """What a subgraph reads from the graphs around it.

    types: of computed tensors, which become its last inputs. constants: these become its own.
    missing: tensors that were left out. changing: those that depend on the values of inputs.
    """

    types: Mapping[str, TensorType] = field(default_factory=dict)
    constants: Mapping[str, Value] = field(default_factory=dict)
    missing: Collection[str] = ()
    changing: Collection[str] = ()


def to_graph(
    proto: onnx.GraphProto, name: str, opset: int, around: Surroundings | None = None
) -> Outcome:
    """The graph of an ONNX graph whose shapes are inferred, and what could not be read of it.

    Raises ModelError, which names the tensor or node, for what is not sound.
    """
    return _Reader(proto, name, opset, around or Surroundings()).read()


class _Reader:
    """missing: names of tensors that have no edge. changing: names of tensors that depend on the
    values of inputs, not on constants and shapes alone. border: those that nodes outside read.
    wanted: those that a node or the list of outputs reads."""

    def __init__(self, proto: onnx.GraphProto, name: str, opset: int, around: Surroundings) -> None:
        self.proto = proto
        self.opset = opset
        self.editor = GraphEditor.empty(name)
        self.types = declared_types(proto)
        self.edges: dict[str, EdgeId] = {}
        self.missing = set(around.missing)
        self.changing = set(around.changing)
        self.border: list[str] = []
        self.told = Outcome(self.editor.finish())
        self.wanted = {o.name for o in proto.output}
        self.wanted.update(name for node in proto.node for name in reads(node))
        for name, value in around.constants.items():
            self._constant(name, value)
        for tensor in proto.initializer:
            try:
                self._constant(tensor.name, array_of(tensor))
            except Untyped as untyped:
                self._tell(str(untyped), tensor.name)
        for value_info in proto.input:
            # IR version 3 lists initializers as inputs too.
            if value_info.name not in self.edges and value_info.name not in self.missing:
                self._input(value_info.name)
        for name, type_ in around.types.items():
            self._add_input(name, type_)

    def _constant(self, name: str, value: Value) -> None:
        type_ = TensorType(DType.of(value.dtype), value.shape)
        self.edges[name] = self.editor.add_constant(text_of(name), value, type_)

    def _input(self, name: str) -> None:
        self.changing.add(name)
        try:
            self._add_input(name, type_of(self.types.get(name)))
            return
        except Untyped as untyped:
            self._tell(str(untyped), name)
        except Open:
            self.told.open_inputs.append(text_of(name))
        except NoTensor:
            element = shape_option(f"{text_of(name)}_0", ["size"])
            self.told.sentences.append(
                f"Input {text_of(name)!r} is a sequence or map; only tensors are taken. Give each "
                f"element of a sequence a shape ({element},... and so on), or export the model "
                "with tensors as its inputs."
            )
        self.missing.add(name)
        self.told.whole = False

    def _add_input(self, name: str, type_: TensorType) -> None:
        self.edges[name] = self.editor.add_edge(text_of(name), type_)
        self.editor.inputs.append(self.edges[name])

    def _tell(self, clause: str, name: str) -> None:
        self.told.clauses.setdefault(clause, []).append(text_of(name))
        self.missing.add(name)
        self.told.whole = False

    def read(self) -> Outcome:
        live = live_nodes(self.proto)
        for index, node in enumerate(self.proto.node):
            if index in live:
                self._node(node, text_of(node.name or f"{text_of(node.op_type)}_{index}"))
        if not self.proto.output:
            raise ModelError(
                "The model has no output, so there is nothing to compute. Export it with one."
            )
        outputs = [o.name for o in self.proto.output]
        for name in outputs if self.told.whole else dict.fromkeys((*outputs, *self.border)):
            if self._is_there(name, "the list of outputs"):
                self.editor.outputs.append(self.edges[name])
        self.told.graph = self.editor.finish(opset=self.opset)
        return self.told

    def _is_there(self, name: str, reader: str) -> bool:
        """Whether a tensor has an edge; otherwise it was left out."""
        if name in self.edges:
            return True
        if name in self.missing:
            return False
        raise ModelError(
            f"{reader!r} reads the tensor {name!r}, which nothing in the model writes before. "
            "Export the model again."
        )

    def _node(self, node: onnx.NodeProto, name: str) -> None:
        if self._is_dropout(node) and not any(o in self.wanted for o in node.output[1:]):
            del node.output[1:]  # a mask that nobody reads: before opset 10 inference has no type
        written = [o for o in node.output if o]
        for output in written:
            if output in self.edges or output in self.missing:
                raise ModelError(
                    f"The tensor {output!r} is written twice, the second time by {name!r}; "
                    "ONNX allows one writer. Export the model again."
                )
        free = dict.fromkeys(n for g in subgraphs_of(node).values() for n in free_names(g))
        read = [*(i for i in node.input if i), *free]
        there = all(self._is_there(n, name) for n in read)
        changes = draws_values(node) or any(n in self.changing for n in read)
        if changes and not gives_shapes(node):
            self.changing.update(written)
        held = self._subgraphs(node, name, list(free))
        try:
            if domain_of(node.domain) == UNDEFINED:
                raise _LeftOut(f"ONNX's opset {self.opset} does not define it", weak=False)
            if counts_values(node):
                raise _LeftOut(COUNTING, weak=False)
            if not there:
                raise _LeftOut
            unread = lacks(node, self.opset) or why_unread(node, NAMES)
            if unread is not None:
                raise _LeftOut(unread, weak=False)
            self._require_whole(held)
            if self._is_dropout(node):
                self._require_inference(node)
            types = self._types(node, written)
            attributes = _attributes(node)
        except (_LeftOut, Untyped) as left_out:
            self._leave_out(node, name, there, left_out)
            self.told.parts += [inner.graph for inner in held.values()]
            self.border += [n for n in read if n in self.changing]
            return
        for output, type_ in types.items():
            self.edges[output] = self.editor.add_edge(text_of(output), type_)
        if self._is_dropout(node):
            self._dropout(node, name)
            return
        op, domain = text_of(node.op_type), domain_of(node.domain)
        domain = "" if domain in (COUNTS, EARLY) else domain
        inputs = [self.edges[i] if i else None for i in node.input]
        scales = onnx_resize.scales(op, domain, attributes)
        if scales is not None:
            type_ = TensorType(DType.FLOAT32, scales.shape)
            inputs.append(self.editor.add_constant(f"{name} scales", scales, type_))
        op, domain = onnx_resize.operator(op, domain, attributes)
        self.editor.add_node(
            op,
            inputs,
            [self.edges[o] if o else None for o in node.output],
            name,
            attributes,
            domain,
            [self.edges[n] for n in free if self.edges[n] not in self.editor.constants],
            {attribute: inner.graph for attribute, inner in held.items()},
        )

    @staticmethod
    def _is_dropout(node: onnx.NodeProto) -> bool:
        return text_of(node.op_type) == "Dropout" and not domain_of(node.domain)

    def _require_inference(self, node: onnx.NodeProto) -> None:
        """Raises _LeftOut for a Dropout that trains."""
        constants = [self.editor.constants.get(self.edges.get(i, -1)) for i in node.input[1:3]]
        clause = training(node, *(*constants, None, None)[:2])
        if clause is not None:
            raise _LeftOut(clause, weak=False)

    def _dropout(self, node: onnx.NodeProto, name: str) -> None:
        """At inference it is its input; its mask says that every element is kept."""
        y, mask = (*(self.edges[o] if o else None for o in node.output), None)[:2]
        if y is not None:
            self.editor.add_node("Identity", [self.edges[node.input[0]]], [y], name)
        if mask is not None:
            type_ = self.editor.types[mask]
            # Before opset 12 onnxruntime fills it with zeros.
            value = np.full(type_.shape, self.opset >= 12, type_.dtype.numpy)
            kept = self.editor.add_constant(f"{name} mask", value, type_)
            self.editor.add_node("Identity", [kept], [mask], f"{name} mask")

    def _types(self, node: onnx.NodeProto, written: Sequence[str]) -> dict[str, TensorType]:
        """The types of a node's outputs. Raises _LeftOut where one has none."""
        found = {}
        for output in written:
            try:
                found[output] = type_of(self.types.get(output))
            except Untyped as untyped:
                self._tell(str(untyped), output)
            except NoTensor:
                raise _LeftOut(
                    f"its output {text_of(output)[:80]!r} is a sequence, map or optional"
                ) from None
            except Open as shown:
                constants = {n for n, edge in self.edges.items() if edge in self.editor.constants}
                clause = sized_at_run_time(node, constants) or too_wide(node, str(shown))
                if clause is not None:
                    raise _LeftOut(clause, weak=False) from None
                raise _LeftOut(
                    f"the shape of its output {text_of(output)[:80]!r} cannot be inferred ({shown})"
                ) from None
        if len(found) < len(written):
            raise _LeftOut
        return found

    def _subgraphs(
        self, node: onnx.NodeProto, name: str, free: Sequence[str]
    ) -> dict[str, Outcome]:
        """The graphs that a node holds, with what they read from here, by attribute."""
        constants = self.editor.constants
        here = {n: self.edges[n] for n in free if n in self.edges}
        around = Surroundings(
            {n: self.editor.types[e] for n, e in here.items() if e not in constants},
            {n: constants[e] for n, e in here.items() if e in constants},
            [n for n in free if n in self.missing],
            [n for n in free if n in self.changing],
        )
        held = {}
        for attribute, proto in subgraphs_of(node).items():
            title = text_of(proto.name or f"{name} {attribute}")
            held[attribute] = inner = to_graph(proto, title, self.opset, around)
            if node.op_type == "If" and node.input[0] not in self.changing:
                inner.left_out.clear()  # with all shapes known, this branch may be gone
            self.told.take(inner)
        return held

    def _require_whole(self, held: Mapping[str, Outcome]) -> None:
        """Raises _LeftOut where a graph that a node holds could not be read."""
        for inner in held.values():
            if inner.open_inputs:
                raise _LeftOut(f"the shape of {inner.open_inputs[0][:80]!r} inside of it is open")
            if not inner.whole:
                raise _LeftOut

    def _leave_out(self, node: onnx.NodeProto, name: str, there: bool, why: Exception) -> None:
        """Tells of a node, and takes what it writes as given where that has a type.

        What depends on shapes alone and is only behind something else is not told: it is computed
        when the model is compiled.
        """
        self.told.whole = False
        if isinstance(why, Untyped):
            self.told.clauses.setdefault(str(why), []).append(name)
        weak = not isinstance(why, _LeftOut) or why.weak
        if there or not weak or any(o in self.changing for o in node.output):
            domain = domain_of(node.domain)
            operator = label("" if domain == UNDEFINED else domain, text_of(node.op_type))
            reason = why.reason if isinstance(why, _LeftOut) else ""
            self.told.left_out.append(Obstacle(operator, name, reason, weak, why_unknown(node)))
        for output in node.output:
            if output and output not in self.missing:
                try:
                    self._add_input(output, type_of(self.types.get(output)))
                except (Untyped, Open, NoTensor):
                    self.missing.add(output)


class _LeftOut(Exception):
    """Why a node is not in the graph, as in `Obstacle`."""

    def __init__(self, reason: str = "", weak: bool = True) -> None:
        super().__init__(reason)
        self.reason, self.weak = reason, weak


def _attributes(node: onnx.NodeProto) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for attribute in node.attribute:
        if attribute.HasField("g"):
            continue
        value = onnx.helper.get_attribute_value(attribute)
        if isinstance(value, bytes):
            value = value.decode("utf-8", "replace")
        elif isinstance(value, onnx.TensorProto):
            value = array_of(value)
        elif isinstance(value, (list, tuple)) or hasattr(value, "__len__"):
            value = tuple(
                v.decode("utf-8", "replace") if isinstance(v, bytes) else v for v in value
            )
        found[attribute.name] = value
    return found
