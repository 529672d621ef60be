"""The codec of records: what each kind of type becomes, and what is refused with which words."""

from __future__ import annotations

import enum
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from typing_extensions import TypeAliasType

from mcu_deploy.backends.c_rules import Nonsense
from mcu_deploy.backends.typed import require_typed
from mcu_deploy.ir import DType
from mcu_deploy.records import Codec, Reader, Writer
from mcu_deploy.schema import Misfit
from mcu_deploy.schema.forms import UNBOUNDED

# As numpy has its NDArray since 2.5, for which Python is 3.12 or newer.
Aliased = TypeAliasType("Aliased", np.ndarray[Any, np.dtype[Any]])


class Color(enum.Enum):
    DARK_RED = "#800"


@dataclass(frozen=True)
class Inner:
    number: int = 0


@dataclass(frozen=True)
class Other:
    text: str = ""


@dataclass(frozen=True)
class Record:
    """One field of each kind."""

    flag: bool
    real: float
    color: Color
    maybe: int | None
    pair: tuple[str, int]
    many: tuple[int, ...]
    few: frozenset[int]
    by_name: Mapping[str, float]
    by_number: Mapping[int, tuple[str, ...]]
    either: Inner | Other
    array: Aliased
    attributes: Mapping[str, Any]
    inner: Inner = field(default_factory=Inner)
    below: tuple[Record, ...] = ()


def record(*below: Record) -> Record:
    attributes = {"a": (1, 2.5, "ü"), "b": -math.inf, "c": 3, "d": "x", "e": ()}
    array = np.arange(6, dtype=np.int16).reshape(2, 3)
    return Record(
        True, math.inf, Color.DARK_RED, None, ("a", 1), (3, -4), frozenset((9, 2)), {"x": 0.5},
        {7: ("s",), 1: ()}, Other("o"), array, attributes, Inner(5), below,
    )  # fmt: skip


def written(value: Record, *, whole: bool = False) -> tuple[Any, list[memoryview]]:
    writer = Writer()
    made = Codec(whole=whole).form(Record).encode(writer, value)
    return json.loads(json.dumps(made, allow_nan=False)), writer.blobs


def read(tree: Any, blobs: list[memoryview]) -> Record:
    found: Record = Codec().form(Record).decode(Reader(blobs), tree)
    return found


@pytest.mark.parametrize("whole", [False, True])
def test_everything_comes_back(whole: bool) -> None:
    value = record(record())
    back = read(*written(value, whole=whole))
    assert str(back) == str(value)
    assert not back.array.flags.writeable
    assert np.array_equal(back.array, value.array)


def test_what_it_looks_like() -> None:
    tree, blobs = written(record())
    assert tree == {
        "flag": True, "real": {"float": "inf"}, "color": "dark_red", "maybe": None,
        "pair": ["a", 1], "many": [3, -4], "few": [2, 9], "by_name": {"x": 0.5},
        "by_number": [[7, ["s"]], [1, []]], "either": {"Other": {"text": "o"}},
        "array": ["int16", [2, 3], 0], "inner": {"number": 5},
        "attributes": {"a": [1, 2.5, "ü"], "b": {"float": "-inf"}, "c": 3, "d": "x", "e": []},
    }  # fmt: skip
    assert blobs[0].tobytes() == bytes((0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0))
    assert "below" in written(record(), whole=True)[0]
    array = record().array
    writer = Writer()
    assert [writer.blob(array), writer.blob(array), len(writer.blobs)] == [0, 0, 1]


def test_a_byte_that_is_not_0_is_true() -> None:
    found = Reader([bytes((0, 1, 2, 255))]).array(DType.BOOL, (4,), 0)
    assert found.tolist() == [False, True, True, True]


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("flag", 1, "flag must be true or false, not 1"),
        ("real", "x", "real must be a whole number, not 'x'"),
        ("color", "blue", "color = 'blue' is no Color"),
        ("color", [], "is no Color"),
        ("maybe", True, "maybe must be a whole number, not True"),
        ("maybe", 1 << 63, "is no integer of 64 bits"),
        ("many", [1, 1 << 63], "many[1] = 9223372036854775808 is no integer of 64 bits"),
        ("pair", ["a"], "pair must have 2 items, not ['a']"),
        ("pair", ["a", 1, 2], "pair must have 2 items, not ['a', 1, 2]"),
        ("many", [1, 2.0], "many[1] must be a whole number, not 2.0"),
        ("many", {}, "many must be a list, not {}"),
        ("by_name", [], "by_name must be a table, not []"),
        ("by_name", {"\ud800": 1}, "a key of by_name has half of a character"),
        ("by_number", [[1, []], [1, []]], "by_number has a key twice"),
        ("by_number", [[1]], "by_number must be a list of pairs, not [[1]]"),
        (
            "either",
            {"Inner": {}, "Other": {}},
            "either must be a table of one of Inner, Other",
        ),
        ("either", {"Record": {}}, "either must be a table of one of Inner, Other"),
        ("array", ["int16", [2, 3], 1], "array: an array has its bytes in blob 1 of 1"),
        ("array", ["int16", [2, 3], -1], "in blob -1 of 1"),
        ("array", ["int16", [2, 4], 0], "an array has 12 bytes, and its type and shape 16"),
        ("array", ["int16", [2, 2], 0], "an array has 12 bytes, and its type and shape 8"),
        ("array", ["int16", [-2, -3], 0], "an array cannot have the shape (-2, -3)"),
        ("array", ["int16", [-1, -6], 0], "an array cannot have the shape (-1, -6)"),
        ("array", ["int16", [1] * 80 + [6], 0], "an array cannot have the shape"),
        ("array", [0], "is not the type, shape and bytes of an array"),
        ("attributes", {"a": [[1]]}, "attributes: a[0] must be a whole number, not [1]"),
        ("attributes", {"a": None}, "attributes: a must be a whole number, not None"),
        ("inner", {"number": "\n" * 900}, "inner: number must be a whole number"),
        ("inner", 5, "inner must be a table or a value of Inner, not 5"),
        ("size", 5, "it has the unknown key 'size'"),
        ("below", [{}], "below[0]: the keys 'flag', 'real'"),
    ],
)
def test_what_is_refused(field: str, value: Any, says: str) -> None:
    tree, blobs = written(record())
    with pytest.raises(Misfit) as refused:
        read({**tree, field: value}, blobs)
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_whole_number_is_a_float_where_one_holds_it() -> None:
    number = UNBOUNDED.form(float)
    assert number.decode(None, -(2**1022)) == -(2.0**1022)
    with pytest.raises(Misfit, match="must be a number, not 1797"):
        number.decode(None, 2**1024)


def test_what_has_no_form() -> None:
    with pytest.raises(TypeError, match="there is no form for"):
        Codec().form(complex)


@pytest.mark.parametrize(
    ("hint", "value"), [(int, "5"), (int, 5.0), (str, 5), (tuple[int, ...], (1, None))]
)
def test_what_cannot_be_written(hint: Any, value: Any) -> None:
    with pytest.raises(Misfit, match=r"must be a (whole number|text)"):
        Codec().form(hint).encode(Writer(), value)


def test_an_alias_is_what_it_stands_for() -> None:
    require_typed(np.zeros(1), Aliased, "it")
    with pytest.raises(Nonsense, match="no ndarray"):
        require_typed([0.0], Aliased, "it")
