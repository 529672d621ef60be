"""TVM's Model Library Format: a tar of C, as microTVM's project templates take it.

Sources, of apache/tvm at v0.14.0, the last releases that have the format:
docs/arch/model_library_format.rst, python/tvm/micro/model_library_format.py (version 7 of
metadata.json, and what is where), src/target/source/interface_c.cc (the header of the C interface),
src/runtime/file_utils.cc (parameters).
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Mapping
from typing import Any

from mcu_deploy.codegen import names
from mcu_deploy.exports import parts
from mcu_deploy.exports.model import Archive, Exported, ExportedNetwork
from mcu_deploy.exports.rendering import below, render

NAME = "mlf"
ARCHIVE = Archive("{package.name}.tar")

_VERSION = 7
# The format asks for a date; one that is always the same lets the same build be the same bytes.
_DATE = "1970-01-01 00:00:00Z"
_CPU = 1  # kDLCPU
# tvm.runtime.save_param_dict({}): the magic number, a reserved word, no names, no tensors.
_NO_PARAMETERS = struct.pack("<4Q", 0xF7E58D4F05049CB7, 0, 0, 0)


def files(exported: Exported) -> Mapping[str, bytes]:
    """The content of each file by its path. TVM writes modules in lower case: names of networks of
    one build differ in more than case."""
    parts.require_largest(exported, NAME)
    codegen: dict[str, bytes] = {}
    metadata: dict[str, Any] = {}
    parameters: dict[str, bytes] = {}
    fields = {n.name: _fields(n) for n in exported.networks}
    for n in exported.networks:
        values = {"n": n, "fields": fields[n.name], "prefix": f"tvmgen_{n.name.lower()}"}
        header = render("mlf/tvmgen.h.j2", exported, **values)
        codegen[f"include/{values['prefix']}.h"] = header
        codegen[f"src/{n.name}_lib0.c"] = n.source.encode()
        codegen[f"src/{n.name}_lib1.c"] = render("mlf/tvmgen.c.j2", exported, **values)
        metadata[n.name] = _metadata(exported, n, fields[n.name])
        parameters[f"{n.name}.params"] = _NO_PARAMETERS
    # Project templates compile all of codegen/host/src, and nothing else of the archive.
    runtime = {f"mcu_crt_{name}": text for name, text in exported.sources.items()}
    whole = {"version": _VERSION, "modules": metadata}
    return {
        "metadata.json": json.dumps(whole, indent=2, sort_keys=True).encode() + b"\n",
        **below("codegen/host", codegen),
        **below("codegen/host/src", runtime),
        **below("codegen/host/include", parts.headers_of(exported)),
        **below("parameters", parameters),
        "samples/main.c": render("mlf/main.c.j2", exported, fields=fields),
        **below("samples", parts.samples(exported)),
        "LICENSE": exported.licence,
        "README.md": render("mlf/README.md.j2", exported),
    }


def _metadata(
    exported: Exported, network: ExportedNetwork, fields: Mapping[str, tuple[str, ...]]
) -> dict[str, Any]:
    """What metadata.json says of a module."""
    report = network.report
    tensors = {"inputs": report.inputs, "outputs": report.outputs}
    core = exported.processor
    main = {
        "device": _CPU,
        "workspace_size_bytes": sum(pool.bytes for pool in report.pools),
        "constants_size_bytes": report.weights_bytes,
        "io_size_bytes": sum(t.bytes for side in tensors.values() for t in side),
        **{
            side: {
                field: {"size": t.bytes, "dtype": t.dtype}
                for field, t in zip(fields[side], values, strict=True)
            }
            for side, values in tensors.items()
        },
    }
    layers = [
        {
            "function_name": layer.short,
            "workspace": [
                {"device": _CPU, "workspace_size_bytes": sum(s.bytes for s in layer.scratch)}
            ],
        }
        for layer in report.layers
    ]
    return {
        "model_name": network.name,
        "export_datetime": _DATE,
        "memory": {"functions": {"main": [main], "operator_functions": layers}},
        "target": [f"c -keys=arm_cpu,cpu -march={core.architecture} -mcpu={core.core}"],
        "executors": ["aot"],
        "style": "full-model",
    }


def _fields(network: ExportedNetwork) -> dict[str, tuple[str, ...]]:
    """What the members of the C interface's structs are called: tensors' names as TVM writes them,
    where C can have these, and no macro for a size gets two values."""
    taken = {"workspace"}  # TVMGEN_<NAME>_WORKSPACE_SIZE is no tensor's

    def field(name: str) -> str:
        plain = re.sub(r"[^A-Za-z0-9]", "_", name)
        lower = plain.lower()
        if lower not in taken and names.variable(plain, set()) == lower:
            taken.add(lower)
            return plain
        return names.variable(name, taken)

    sides = {"inputs": network.report.inputs, "outputs": network.report.outputs}
    return {side: tuple(field(t.name) for t in tensors) for side, tensors in sides.items()}
