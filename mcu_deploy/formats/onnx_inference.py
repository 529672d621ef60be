"""Training in a model: Dropout at inference is the identity; what would train is refused.

And attributes that change what is computed and of which one value is: the others are refused, so
that none is passed over.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx

from mcu_deploy.arithmetic import Array
from mcu_deploy.errors import UnsupportedError
from mcu_deploy.formats.onnx_subgraphs import subgraphs_below

# For each operator the attributes of which only these values are computed.
_COMPUTED: Mapping[tuple[str, str], tuple[int, ...]] = {
    ("BatchNormalization", "spatial"): (1,),
    ("BatchNormalization", "training_mode"): (0,),
    ("LayerNormalization", "stash_type"): (onnx.TensorProto.FLOAT,),
    ("QuantizeLinear", "precision"): (0, onnx.TensorProto.FLOAT),
}


def refuse_attributes(model: onnx.ModelProto) -> None:
    """Raises UnsupportedError, which lists them, where such an attribute has another value."""
    scopes = (model.graph, *subgraphs_below(model.graph))
    found = [
        f"{node.op_type} {node.name[:60]!r} has {attribute.name}={attribute.i}"
        for scope in scopes
        for node in scope.node
        if node.domain in ("", "ai.onnx")
        for attribute in node.attribute
        if attribute.i not in _COMPUTED.get((node.op_type, attribute.name), (attribute.i,))
    ]
    if found:
        shown = "; ".join(found[:10]) + (f"; and {len(found) - 10} more" if found[10:] else "")
        raise UnsupportedError(
            f"The model says what no backend computes: {shown}. Export it for inference, with the "
            "defaults of these attributes."
        )


def refuse_training(node: onnx.NodeProto, ratio: Array | None, training: Array | None) -> None:
    """Raises UnsupportedError where a Dropout may set elements to zero.

    ratio, training: its inputs, where they are constants; older opsets do not have them.
    """
    if len(node.input) < 3 or not node.input[2]:
        return
    if training is None:
        raise UnsupportedError(
            f"Dropout {node.name!r} reads its training_mode from a tensor that is computed at run "
            "time. Export the model for inference (model.eval() in PyTorch)."
        )
    if np.any(training) and (ratio is None or np.any(ratio)):
        raise UnsupportedError(
            f"Dropout {node.name!r} is in training mode, in which it sets random elements to zero. "
            "Export the model for inference (model.eval() in PyTorch)."
        )
