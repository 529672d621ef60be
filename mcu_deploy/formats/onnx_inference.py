"""Training in a model: Dropout at inference is the identity; what would train is refused.

And attributes that change what is computed and of which one value is: the others are refused, so
that none is passed over.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx

from mcu_deploy.arithmetic import Array
from mcu_deploy.errors.obstacles import Obstacle
from mcu_deploy.formats.onnx_operators import domain_of, text_of
from mcu_deploy.formats.onnx_subgraphs import all_nodes

# For each operator the attributes of which only these values are computed.
_COMPUTED: Mapping[tuple[str, str], tuple[int, ...]] = {
    ("BatchNormalization", "spatial"): (1,),
    ("BatchNormalization", "training_mode"): (0,),
    ("LayerNormalization", "stash_type"): (onnx.TensorProto.FLOAT,),
    ("Range", "stash_type"): (onnx.TensorProto.FLOAT,),
    ("QuantizeLinear", "precision"): (0, onnx.TensorProto.FLOAT),
}


def refused_attributes(model: onnx.ModelProto) -> list[Obstacle]:
    """The nodes where such an attribute has another value."""
    return [
        Obstacle(
            text_of(node.op_type),
            text_of(node.name),
            f"it has {attribute.name}={attribute.i}, which no backend computes; export the model "
            "for inference, with the default of this attribute",
        )
        for node in all_nodes(model.graph.node)
        if not domain_of(node.domain)
        for attribute in node.attribute
        if attribute.i not in _COMPUTED.get((node.op_type, attribute.name), (attribute.i,))
    ]


def training(node: onnx.NodeProto, ratio: Array | None, mode: Array | None) -> str | None:
    """Why a Dropout may set elements to zero, as a clause; None where it does not.

    ratio, mode: its inputs, where they are constants; older opsets do not have them.
    """
    if len(node.input) < 3 or not node.input[2]:
        return None
    if mode is None:
        what = "it reads its training_mode from a tensor that is computed at run time"
    elif np.any(mode) and (ratio is None or np.any(ratio)):
        what = "it is in training mode, in which it sets random elements to zero"
    else:
        return None
    return f"{what}. Export the model for inference (model.eval() in PyTorch)"
