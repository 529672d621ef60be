"""The ctypes structs and backend.h say the same, and older tables are read as far as they go."""

from __future__ import annotations

import ctypes
import inspect
import re
import subprocess
from pathlib import Path

import pytest
from dynamic import mock_objects

from mcu_deploy.backends.interface import API_VERSION, LayoutRule, Role
from mcu_deploy.dynamic import structs
from mcu_deploy.dynamic.table import Table
from mcu_deploy.dynamic.wire import Declined
from mcu_deploy.ir import DType

HEADER = mock_objects.INCLUDE / "mcu" / "backend.h"


def mirrored() -> dict[str, type[ctypes.Structure]]:
    """The C name of each struct, which its docstring says."""
    members = inspect.getmembers(structs, inspect.isclass)
    return {
        str(kind.__doc__): kind
        for _, kind in members
        if issubclass(kind, ctypes.Structure) and kind is not ctypes.Structure
    }


def test_every_struct_of_the_header_is_there() -> None:
    in_header = set(re.findall(r"^typedef struct (\w+) \{", HEADER.read_text(), re.MULTILINE))
    assert {f"{name}_t" for name in in_header} == set(mirrored())


@pytest.mark.needs_host_gcc
def test_sizes_and_offsets_are_those_of_the_compiler(tmp_path: Path) -> None:
    lines, expected = [], []
    for name, kind in mirrored().items():
        lines.append(f'printf("%zu\\n", sizeof({name}));')
        expected.append((name, ctypes.sizeof(kind)))
        for field, *_ in kind._fields_:
            lines.append(
                f'printf("%zu %zu\\n", offsetof({name}, {field}), sizeof((({name} *)0)->{field}));'
            )
            descriptor = getattr(kind, field)
            expected.append((f"{name}.{field}", (descriptor.offset, descriptor.size)))
    source, program = tmp_path / "sizes.c", tmp_path / "sizes"
    body = "\n".join(lines)
    source.write_text(
        f"#include <mcu/backend.h>\n#include <stdio.h>\nint main(void) {{\n{body}\nreturn 0;\n}}\n"
    )
    subprocess.run(
        ["gcc", "-std=c11", f"-I{mock_objects.INCLUDE}", source, "-o", program], check=True
    )
    printed = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    found = [
        int(line) if " " not in line else tuple(int(n) for n in line.split())
        for line in printed.splitlines()
    ]
    assert found == [value for _, value in expected], [name for name, _ in expected]


def test_every_field_of_the_header_is_there() -> None:
    text = re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.DOTALL)
    for name, kind in mirrored().items():
        body = re.search(rf"typedef struct {name[:-2]} \{{(.*?)\}} {name};", text, re.DOTALL)
        assert body is not None
        assert body[1].count(";") == len(kind._fields_), name


def test_the_versions_and_the_enumerations_agree() -> None:
    text = HEADER.read_text()
    version = tuple(
        int(re.findall(rf"#define MCU_BACKEND_API_{part} (\d+)U", text)[0])
        for part in ("MAJOR", "MINOR")
    )
    assert version == API_VERSION
    assert dict(structs.DTYPES) == {dtype.value: dtype.bytes for dtype in DType}
    for enumeration, prefix, names in (
        ("dtype", "", [name for name, _ in structs.DTYPES]),
        ("layout_rule", "LAYOUT_", list(structs.LAYOUTS)),
        ("role", "ROLE_", list(structs.ROLES)),
    ):
        body = re.search(rf"typedef enum mcu_{enumeration} \{{(.*?)\}}", text, re.DOTALL)
        assert body is not None
        found = re.findall(rf"MCU_{prefix}(\w+) = (\d+)", body[1])
        assert [(name.lower(), int(n)) for name, n in found] == [
            (name, n) for n, name in enumerate(names)
        ]
    assert {rule.name.lower() for rule in LayoutRule} == set(structs.LAYOUTS)
    assert {role.name.lower() for role in Role} == set(structs.ROLES)


class NewerBackend(structs.Backend):
    """The table of a later minor version: one more method."""

    _fields_ = (("later", ctypes.c_void_p),)


def plain_table(kind: type[structs.Backend], size: int) -> structs.Backend:
    table = kind(struct_size=size, api_major=1, api_minor=1)
    for name in structs.MANDATORY:
        setattr(table, name, 1)
    return table


def test_a_shorter_table_lacks_the_methods_behind_its_end() -> None:
    size = ctypes.sizeof(structs.Backend)
    memory = (ctypes.c_uint8 * ctypes.sizeof(NewerBackend))(*[0xFF] * ctypes.sizeof(NewerBackend))
    table = plain_table(structs.Backend, size)
    ctypes.memmove(memory, ctypes.byref(table), size)
    read = Table.at(ctypes.addressof(memory), (1, 1), NewerBackend)
    assert set(read.methods) == set(structs.MANDATORY)
    assert read._table.later is None, "what lies behind the table is not read"


def test_a_longer_table_is_read_as_far_as_it_is_known() -> None:
    table = plain_table(NewerBackend, ctypes.sizeof(NewerBackend))
    assert set(Table.at(ctypes.addressof(table), (1, 1)).methods) == set(structs.MANDATORY)


def test_a_table_without_its_last_mandatory_method_is_declined() -> None:
    table = plain_table(structs.Backend, structs.MANDATORY_SIZE - 1)
    with pytest.raises(Declined, match="its table has"):
        Table.at(ctypes.addressof(table), (1, 1))
