"""The graph: topology and data, as values.

`Graph` is immutable; a pass makes a `GraphEditor` from it, edits, and takes the next value from
`finish()`. The split into topology and data is ppl.nn's.
"""

from mcu_deploy.ir.dtypes import DType
from mcu_deploy.ir.edit import GraphEditor
from mcu_deploy.ir.graph import EdgeId, Graph, GraphData, Node, NodeId, Topology
from mcu_deploy.ir.types import Quantization, TensorType
from mcu_deploy.ir.verify import GraphError, verify
from mcu_deploy.ir.view import SubgraphView, view, view_of_all
