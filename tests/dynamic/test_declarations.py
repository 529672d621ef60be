"""What cffi makes of backend.h is what a compiler makes of it; older tables are read as they go."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from dynamic import mock_objects

from mcu_deploy.backends.interface import API_VERSION, LayoutRule, Role
from mcu_deploy.dynamic import declarations
from mcu_deploy.dynamic.answers import Answers
from mcu_deploy.dynamic.memory import BackendMemory, declared, width
from mcu_deploy.dynamic.table import MANDATORY, MethodTable
from mcu_deploy.dynamic.wire import Declined
from mcu_deploy.ir import DType

FFI = declared(declarations.tables())
MEMORY = BackendMemory(FFI)
LEAST = (*MANDATORY, "is_layer_supported")


def structs() -> list[str]:
    return re.findall(r"^typedef struct (\w+) \{", declarations.text(), re.MULTILINE)


def test_all_structs_of_the_header_are_among_the_declarations() -> None:
    header = (mock_objects.INCLUDE / "mcu" / "backend.h").read_text()
    assert re.findall(r"^typedef struct (\w+) \{", header, re.MULTILINE) == structs()
    assert len(structs()) > 25


@pytest.mark.needs_host_gcc
def test_sizes_and_offsets_are_those_of_the_compiler(tmp_path: Path) -> None:
    lines, expected = [], []
    for name in (f"{struct}_t" for struct in structs()):
        lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
        expected.append(f"{name} {FFI.sizeof(name)}")
        for field, of in FFI.typeof(name).fields:
            lines.append(
                f'printf("{name}.{field} %zu %zu\\n", offsetof({name}, {field}), '
                f"sizeof((({name} *)0)->{field}));"
            )
            expected.append(f"{name}.{field} {of.offset} {FFI.sizeof(of.type)}")
    source, program = tmp_path / "sizes.c", tmp_path / "sizes"
    body = "\n".join(lines)
    source.write_text(
        f"#include <mcu/backend.h>\n#include <stdio.h>\nint main(void) {{\n{body}\nreturn 0;\n}}\n"
    )
    subprocess.run(
        ["gcc", "-std=c11", f"-I{mock_objects.INCLUDE}", source, "-o", program], check=True
    )
    printed = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    assert printed.splitlines() == expected


def test_the_versions_and_the_words_agree() -> None:
    parts = ("MCU_BACKEND_API_MAJOR", "MCU_BACKEND_API_MINOR")
    assert tuple(FFI.integer_const(part) for part in parts) == API_VERSION

    def words(enumeration: str) -> set[str]:
        numbers = FFI.typeof(enumeration).elements
        found = {MEMORY.word(enumeration, number, "word") for number in numbers}
        assert {MEMORY.number(enumeration, word) for word in found} == {*numbers}
        return found

    assert {dtype: width(dtype) for dtype in words("mcu_dtype_t")} == {
        dtype.value: dtype.bytes for dtype in DType if not dtype.is_narrow
    }
    assert words("mcu_layout_rule_t") == {rule.name.lower() for rule in LayoutRule}
    # The size of a run is added behind backends.
    assert words("mcu_role_t") == {role.name.lower() for role in Role if role is not Role.SIZE}


def table(size: int, *methods: str) -> tuple[Any, Any]:
    """A table that says this size, in memory that goes on behind it; and what must be kept."""
    memory = FFI.new("char[]", b"\xff" * (FFI.sizeof("mcu_backend_t") + 64))
    made = FFI.new("mcu_backend_t *", {"struct_size": size, "api_major": 1, "api_minor": 1})
    for name in methods:
        at = FFI.offsetof("mcu_backend_t", name)
        FFI.cast("uintptr_t *", FFI.cast("char *", made) + at)[0] = 1
    FFI.memmove(memory, made, min(size, FFI.sizeof("mcu_backend_t")))
    return FFI.cast("void *", memory), memory


def test_a_shorter_table_lacks_the_methods_behind_its_end() -> None:
    at, _kept = table(FFI.offsetof("mcu_backend_t", "save_data"), *LEAST)
    assert {*MethodTable(MEMORY, at, (1, 1)).methods} == {*LEAST}


def test_a_longer_table_is_read_as_far_as_it_is_known() -> None:
    at, _kept = table(FFI.sizeof("mcu_backend_t") + 8, *LEAST)
    assert {*MethodTable(MEMORY, at, (1, 1)).methods} == {*LEAST}


def test_a_table_without_its_last_mandatory_method_is_declined() -> None:
    at, _kept = table(FFI.offsetof("mcu_backend_t", "save_data") - 1, *LEAST)
    with pytest.raises(Declined, match="its table has"):
        MethodTable(MEMORY, at, (1, 1))


def test_of_a_graph_that_ends_before_its_bodies_none_are_read() -> None:
    """What stands behind its end is not its own, whatever it looks like."""
    end = FFI.offsetof("mcu_graph_t", "bodies")
    text = FFI.new("char[]", b"Relu")
    node = FFI.new("mcu_node_t *", {"op": text, "domain": text, "name": text})
    body = FFI.new("mcu_graph_t *", {"name": text})
    graph = FFI.new("mcu_graph_t *", {"struct_size": end, "name": text, "num_nodes": 1})
    bodies = FFI.new("mcu_graph_t *[]", [body])
    graph.nodes, graph.bodies = node, bodies
    assert Answers(MEMORY, 1).read(graph)["data"]["bodies"] == []
    graph.struct_size = end + FFI.sizeof("void *")
    assert len(Answers(MEMORY, 1).read(graph)["data"]["bodies"]) == 1
    assert Answers(MEMORY, 0).read(graph)["data"]["bodies"] == []


def test_a_table_that_proposes_needs_no_layer_support() -> None:
    size = FFI.sizeof("mcu_backend_t")
    at, _kept = table(size, *MANDATORY, "propose")
    assert {*MethodTable(MEMORY, at, (1, 1)).methods} == {*MANDATORY, "propose"}
    at, _kept = table(size, *MANDATORY)
    with pytest.raises(Declined, match="the method is_layer_supported of its table is NULL"):
        MethodTable(MEMORY, at, (1, 1))
