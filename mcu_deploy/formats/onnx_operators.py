"""Names in an ONNX file, and what is known of operators by their names."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, MutableSequence

import onnx

from mcu_deploy.errors.obstacles import Obstacle
from mcu_deploy.formats.onnx_subgraphs import all_nodes
from mcu_deploy.formats.qoperator import why_it_stays
from mcu_deploy.operators import find, label


def text_of(name: str | bytes) -> str:
    """A name of the model; protobuf gives bytes where it is no UTF-8."""
    return name if isinstance(name, str) else name.decode("utf-8", "replace")


def domain_of(domain: str | bytes) -> str:
    """A node's domain; ONNX's own has two names."""
    text = text_of(domain)
    return "" if text == "ai.onnx" else text


def opset_of(imports: Iterable[onnx.OperatorSetIdProto], default: int = 0) -> int:
    """The version of ONNX's own operators."""
    return max((o.version for o in imports if not domain_of(o.domain)), default=default)


# The domain of nodes that claim to be ONNX's own and are not, once they are set aside.
UNDEFINED = "mcu-deploy.undefined"
_RANDOM = {"RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Bernoulli"}
# What they give depends on the shape of their input alone.
_SHAPES = {"Shape", "Size"}


def set_aside_undefined(model: onnx.ModelProto) -> None:
    """Moves the nodes whose operator ONNX does not define to a domain of their own.

    So the checker and the inference of shapes pass them by, and they are told with all others.
    """
    local = {text_of(f.name) for f in model.functions if not domain_of(f.domain)}

    def is_undefined(op: str, opset: int) -> bool:
        return op not in local and not onnx.defs.has(op, opset, "")

    set_aside(model.graph.node, model.opset_import, UNDEFINED, is_undefined)
    for function in model.functions:
        set_aside(function.node, function.opset_import, UNDEFINED, is_undefined)


def set_aside(
    nodes: Iterable[onnx.NodeProto],
    imports: MutableSequence[onnx.OperatorSetIdProto],
    domain: str,
    moves: Callable[[str, int], bool],
) -> None:
    """Moves ONNX's own nodes to another domain. moves: whether, by an operator and the opset."""
    opset = opset_of(imports, 1)
    own = [node for node in all_nodes(nodes) if not domain_of(node.domain)]
    moved = [node for node in own if moves(text_of(node.op_type), opset)]
    for node in moved:
        node.domain = domain
    if moved:
        imports.append(onnx.helper.make_opsetid(domain, 1))


def strangers(model: onnx.ModelProto) -> list[Obstacle]:
    """The nodes of a model, valid or not, whose operators are unknown by their names."""
    local = {(domain_of(f.domain), text_of(f.name)) for f in model.functions}
    found = []
    for node in all_nodes(model.graph.node):
        domain, op = domain_of(node.domain), text_of(node.op_type)
        if domain == UNDEFINED:
            found.append(Obstacle(op, text_of(node.name), "ONNX does not define it"))
        elif domain and (domain, op) not in local:
            found.append(
                Obstacle(label(domain, op), text_of(node.name), "", True, why_unknown(node))
            )
    return found


def why_unknown(node: onnx.NodeProto) -> str:
    """Why a node is not computed where no backend has its operator."""
    attributes = {text_of(a.name): onnx.helper.get_attribute_value(a) for a in node.attribute}
    given = [bool(name) for name in node.input]
    return why_it_stays(domain_of(node.domain), text_of(node.op_type), given, attributes)


def why_unread(node: onnx.NodeProto, known: Collection[str]) -> str | None:
    """Why a node is none of the forms that are read; None for ONNX's own operators, and where
    nothing is known of its operator. known: operators that are read in some forms."""
    domain, op = domain_of(node.domain), text_of(node.op_type)
    if not domain or find(domain, op) is not None:
        return None
    attributes = {text_of(a.name): onnx.helper.get_attribute_value(a) for a in node.attribute}
    if label(domain, op) == "ai.onnx.ml::ZipMap":
        return (
            "it makes dictionaries of scores, which are tensors before it; export the model with "
            "skl2onnx's options={'zipmap': False}"
        )
    is_ml = domain == "ai.onnx.ml"
    if is_ml and any(name.endswith("_strings") and value for name, value in attributes.items()):
        return "its labels or keys are texts; train the model with whole numbers for these"
    if label(domain, op) not in known:
        return None
    return (
        "its attributes and the sizes and types of its tensors are of no form that is computed, or "
        "do not fit together; export the model again, or do this step in your program"
    )


def lacks(node: onnx.NodeProto, opset: int) -> str | None:
    """What ONNX requires of a node and it has not, or has too many of, as a clause; or None.

    The checker says so of a model. What else stands against such a model is told with that, so its
    nodes are read as well.
    """
    op, single = text_of(node.op_type), onnx.defs.OpSchema.FormalParameterOption.Single
    if domain_of(node.domain) or not onnx.defs.has(op, opset, ""):
        return None
    schema = onnx.defs.get_schema(op, opset, "")
    sides = (
        ("input", schema.inputs, node.input, schema.max_input),
        ("output", schema.outputs, node.output, schema.max_output),
    )
    for side, wanted, given, most in sides:
        if len(given) > most:
            return f"it has {len(given)} {side}s, and ONNX allows {most}"
        for place, parameter in enumerate(wanted):
            if parameter.option == single and not any(given[place : place + 1]):
                return f"its {side} {parameter.name!r} is missing, which ONNX requires"
    attributes = {text_of(a.name) for a in node.attribute}
    for name, attribute in schema.attributes.items():
        if attribute.required and name not in attributes:
            return f"its attribute {name!r} is missing, which ONNX requires"
    return None


def counts_values(node: onnx.NodeProto) -> bool:
    """Whether the size of a node's output always depends on the values of its inputs."""
    return not domain_of(node.domain) and text_of(node.op_type) in _COUNTING


def draws_values(node: onnx.NodeProto) -> bool:
    """Whether a node may give other values in each run, whatever it reads."""
    return text_of(node.op_type) in _RANDOM or bool(domain_of(node.domain) and not node.input)


def gives_shapes(node: onnx.NodeProto) -> bool:
    """Whether what a node gives depends on the shape of its input alone."""
    return not domain_of(node.domain) and text_of(node.op_type) in _SHAPES


# Operators that give as many elements as their input's values happen to ask for.
_COUNTING = {"Compress", "NonMaxSuppression", "NonZero", "Unique"}
COUNTING = (
    "how many elements it gives depends on the data. As an output of the model such a tensor has "
    "room for the most that there can be, and a count beside it, also behind operators that take "
    "each element alone (Transpose, Gather, Cast, Mul); here something computes with all of them, "
    "or nothing says how many there are at most. Let the model end before that step and do it in "
    "your program, or use operators of fixed size (Where, TopK)"
)
# The inputs whose values are, or decide, the shape of the output; from the place on.
_SIZING = {
    "CenterCropPad": 1, "ConstantOfShape": 0, "Expand": 1, "OneHot": 1, "Pad": 1, "Range": 0,
    "Reshape": 1, "Resize": 2, "Slice": 1, "Split": 1, "Squeeze": 1, "Tile": 1, "TopK": 1,
    "Unsqueeze": 1, "Upsample": 1,
}  # fmt: skip


_WINDOWS = frozenset({"AveragePool", "Conv", "LpPool", "MaxPool"})


def sized_at_run_time(node: onnx.NodeProto, constants: Collection[str]) -> str | None:
    """Why the size of a node's output is known only when the model runs, and what to do instead.

    None for a node that does not depend on values so. constants: the names of the constants.
    """
    op = text_of(node.op_type)
    if domain_of(node.domain):
        return None
    if op in _COUNTING:
        return COUNTING
    reduces = op.startswith("Reduce")  # along axes that opsets 13 and 18 made an input
    places = node.input[1 if reduces else _SIZING.get(op, len(node.input)) :]
    computed = [text_of(name) for name in places if name and name not in constants]
    if computed:
        return (
            f"the shape of its output depends on the values of the tensor {computed[0][:80]!r}, "
            "which is computed when the model runs, and memory is planned when the model is "
            "compiled; make that tensor a constant of the model, as --constant-input does with its "
            "inputs"
        )
    return None


def too_wide(node: onnx.NodeProto, shape: str) -> str | None:
    """Why there is no output of a window, where what was inferred of its shape is negative; None
    for other operators and shapes."""
    if text_of(node.op_type) not in _WINDOWS or not re.search(r"[ \[]-\d", shape):
        return None
    dilations = [list(a.ints) for a in node.attribute if a.name == "dilations"]
    dilated = f", with its dilations {dilations[0]}," if dilations and max(dilations[0]) > 1 else ""
    return (
        f"its kernel{dilated} is larger than its input, of which the output would be {shape}; "
        "export the model with a smaller kernel or a larger input"
    )
