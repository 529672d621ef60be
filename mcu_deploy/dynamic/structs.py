"""The structs of crt/include/mcu/backend.h for ctypes. A test compares every offset with C's.

Pointers are plain addresses: what a backend puts there is read by `memory.py`, and what it is given
is kept alive by `arguments.py`. Runs in workers: the standard library only.
"""

from __future__ import annotations

import ctypes
from ctypes import c_int32, c_int64, c_uint8, c_uint16, c_uint32, c_uint64

Pointer = ctypes.c_void_p

NONE = 0xFFFFFFFF

OK, ERROR, UNSUPPORTED, OUT_OF_MEMORY = 0, -1, -2, -3

# The names of element types and the bytes of an element, by mcu_dtype_t.
DTYPES = (
    ("bool", 1), ("int8", 1), ("uint8", 1), ("int16", 2), ("uint16", 2), ("int32", 4),
    ("uint32", 4), ("int64", 8), ("uint64", 8), ("float32", 4), ("float64", 8),
)  # fmt: skip
DTYPE_NUMBERS = {name: number for number, (name, _) in enumerate(DTYPES)}
# The names of mcu_layout_rule_t and mcu_role_t.
LAYOUTS = ("natural", "channels_last", "same", "view")
ROLES = ("input", "output", "constant", "scratch", "region", "scalar")

ATTRIBUTE_INTS, ATTRIBUTE_FLOATS, ATTRIBUTE_STRINGS, ATTRIBUTE_TENSOR = range(4)


class Edge(ctypes.Structure):
    """mcu_edge_t"""

    _fields_ = (
        ("id", c_uint32),
        ("name", Pointer),
        ("dtype", c_int32),
        ("rank", c_uint32),
        ("shape", Pointer),
        ("layout", Pointer),
        ("num_scales", c_uint32),
        ("quantization_axis", c_int32),
        ("scales", Pointer),
        ("zero_points", Pointer),
        ("data", Pointer),
        ("data_bytes", c_uint64),
        ("producer", c_uint32),
        ("num_consumers", c_uint32),
        ("consumers", Pointer),
    )


class Attribute(ctypes.Structure):
    """mcu_attribute_t"""

    _fields_ = (
        ("name", Pointer),
        ("kind", c_int32),
        ("count", c_uint32),
        ("ints", Pointer),
        ("floats", Pointer),
        ("strings", Pointer),
        ("tensor", Pointer),
    )


class Node(ctypes.Structure):
    """mcu_node_t"""

    _fields_ = (
        ("id", c_uint32),
        ("op", Pointer),
        ("domain", Pointer),
        ("name", Pointer),
        ("num_inputs", c_uint32),
        ("inputs", Pointer),
        ("num_outputs", c_uint32),
        ("outputs", Pointer),
        ("num_attributes", c_uint32),
        ("attributes", Pointer),
    )


class Graph(ctypes.Structure):
    """mcu_graph_t"""

    _fields_ = (
        ("struct_size", c_uint32),
        ("opset", c_uint32),
        ("name", Pointer),
        ("core", Pointer),
        ("has_fpu", c_uint8),
        ("has_dsp", c_uint8),
        ("has_mve", c_uint8),
        ("reserved", c_uint8),
        ("num_nodes", c_uint32),
        ("nodes", Pointer),
        ("num_edges", c_uint32),
        ("edges", Pointer),
        ("num_inputs", c_uint32),
        ("inputs", Pointer),
        ("num_outputs", c_uint32),
        ("outputs", Pointer),
        ("bodies", Pointer),
    )


class BackendInfo(ctypes.Structure):
    """mcu_backend_info_t"""

    _fields_ = (
        ("struct_size", c_uint32),
        ("rank", c_int32),
        ("handle", Pointer),
        ("num_cores", c_uint32),
        ("cores", Pointer),
        ("num_operators", c_uint32),
        ("operators", Pointer),
    )


class Support(ctypes.Structure):
    """mcu_support_t"""

    _fields_ = (
        ("struct_size", c_uint32),
        ("supported", c_int32),
        ("handle", Pointer),
        ("reason", Pointer),
        ("layout", c_int32),
    )


class Costs(ctypes.Structure):
    """mcu_costs_t"""

    _fields_ = (
        ("struct_size", c_uint32),
        ("reserved", c_uint32),
        ("macs", c_int64),
        ("instructions", c_int64),
        ("cycles", c_int64),
        ("flash_bytes", c_int64),
    )


class Parameter(ctypes.Structure):
    """mcu_parameter_t"""

    _fields_ = (("type", Pointer), ("name", Pointer))


class Function(ctypes.Structure):
    """mcu_function_t"""

    _fields_ = (
        ("stem", Pointer),
        ("result", Pointer),
        ("num_parameters", c_uint32),
        ("is_helper", c_uint32),
        ("parameters", Pointer),
        ("body", Pointer),
    )


class Constant(ctypes.Structure):
    """mcu_constant_t"""

    _fields_ = (
        ("stem", Pointer),
        ("dtype", c_int32),
        ("alignment", c_uint32),
        ("num_elements", c_uint64),
        ("data", Pointer),
    )


class Argument(ctypes.Structure):
    """mcu_argument_t"""

    _fields_ = (("role", c_int32), ("index", c_uint32))


class InPlace(ctypes.Structure):
    """mcu_in_place_t"""

    _fields_ = (("input", c_uint32), ("output", c_uint32), ("distance", c_int32))


class Region(ctypes.Structure):
    """mcu_region_t"""

    _fields_ = (("name", Pointer), ("bytes", c_uint32))


class Workload(ctypes.Structure):
    """mcu_workload_t"""

    _fields_ = (
        ("function", Pointer),
        ("num_arguments", c_uint32),
        ("num_constants", c_uint32),
        ("arguments", Pointer),
        ("constants", Pointer),
        ("num_helpers", c_uint32),
        ("num_headers", c_uint32),
        ("helpers", Pointer),
        ("headers", Pointer),
        ("scratch_bytes", c_uint32),
        ("num_in_place", c_uint32),
        ("in_place", Pointer),
        ("num_regions", c_uint32),
        ("num_scratch_regions", c_uint32),
        ("regions", Pointer),
        ("costs", Costs),
    )


class Workloads(ctypes.Structure):
    """mcu_workloads_t"""

    _fields_ = (
        ("struct_size", c_uint32),
        ("num_workloads", c_uint32),
        ("handle", Pointer),
        ("workloads", Pointer),
    )


class Subgraph(ctypes.Structure):
    """mcu_subgraph_t"""

    _fields_ = (("num_nodes", c_uint32), ("reserved", c_uint32), ("nodes", Pointer))


class Substitution(ctypes.Structure):
    """mcu_substitution_t"""

    _fields_ = (("substitutable", Subgraph), ("replacement", Pointer))


class Optimization(ctypes.Structure):
    """mcu_optimization_t"""

    _fields_ = (
        ("struct_size", c_uint32),
        ("num_substitutions", c_uint32),
        ("handle", Pointer),
        ("substitutions", Pointer),
        ("num_failed", c_uint32),
        ("num_untouched", c_uint32),
        ("failed", Pointer),
        ("untouched", Pointer),
    )


class RegionCall(ctypes.Structure):
    """mcu_region_call_t"""

    _fields_ = (
        ("function", Pointer),
        ("num_regions", c_uint32),
        ("num_helpers", c_uint32),
        ("regions", Pointer),
        ("helpers", Pointer),
        ("num_headers", c_uint32),
        ("reserved", c_uint32),
        ("headers", Pointer),
    )


class Memory(ctypes.Structure):
    """mcu_memory_t"""

    _fields_ = (
        ("struct_size", c_uint32),
        ("reserved", c_uint32),
        ("handle", Pointer),
        ("acquire", RegionCall),
        ("release", RegionCall),
    )


class LayerCount(ctypes.Structure):
    """mcu_layer_count_t"""

    _fields_ = (
        ("index", c_uint32),
        ("reserved", c_uint32),
        ("name", Pointer),
        ("op", Pointer),
        ("unit", Pointer),
        ("macs", c_uint64),
        ("count", c_uint64),
    )


class Counter(ctypes.Structure):
    """mcu_counter_t"""

    _fields_ = (("name", Pointer), ("value", c_int64))


class Counters(ctypes.Structure):
    """mcu_counters_t"""

    _fields_ = (
        ("struct_size", c_uint32),
        ("num_counters", c_uint32),
        ("handle", Pointer),
        ("counters", Pointer),
    )


class Saved(ctypes.Structure):
    """mcu_saved_t"""

    _fields_ = (
        ("struct_size", c_uint32),
        ("reserved", c_uint32),
        ("handle", Pointer),
        ("data", Pointer),
        ("data_bytes", c_uint64),
    )


class Option(ctypes.Structure):
    """mcu_option_t"""

    _fields_ = (("name", Pointer), ("value", Pointer))


class Backend(ctypes.Structure):
    """mcu_backend_t"""

    _fields_ = (
        ("struct_size", c_uint32),
        ("api_major", c_uint16),
        ("api_minor", c_uint16),
        ("self", Pointer),
        ("describe", Pointer),
        ("is_layer_supported", Pointer),
        ("optimize_subgraph", Pointer),
        ("create_workload", Pointer),
        ("estimate", Pointer),
        ("memory", Pointer),
        ("create_context", Pointer),
        ("before_load_network", Pointer),
        ("after_load_network", Pointer),
        ("before_unload_network", Pointer),
        ("after_unload_network", Pointer),
        ("layers_measured", Pointer),
        ("error", Pointer),
        ("release", Pointer),
        ("free", Pointer),
        ("save_data", Pointer),
        ("load_data", Pointer),
    )


# The table of API version 1.0 reaches up to here; what a later minor version adds may be missing.
MANDATORY_SIZE = Backend.free.offset + ctypes.sizeof(Pointer)
MANDATORY = ("describe", "is_layer_supported", "create_workload", "release", "free")
METHODS = tuple(name for name, *_ in Backend._fields_[4:])
