"""Options are checked where they are made, and everybody reads the same definition of them."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, replace
from typing import Any

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from sampling import CHARACTERS

from mcu_deploy.cli import create_app
from mcu_deploy.errors import UsageError
from mcu_deploy.options import (
    Half,
    Options,
    PartitionRequest,
    PoolRequests,
    Requests,
    StateRequest,
    flagged,
    from_typed,
)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"io": "callr"}, "--io callr is not known; it is arena or caller. Did you mean caller?"),
        ({"arena": "shard"}, "--arena shard is not known; it is separate or shared. Did you mean"),
        ({"memory": "maru"}, "--memory maru is not known; it is one of offline, compact, bestfit,"),
        ({"schedule": "both"}, "--schedule both is not known; it is parallel or sequential."),
        ({"strategy": "best"}, "--strategy best is not known; it is one of auto, cost, greedy."),
        ({"weights": "none"}, "--weights none is not known; it is one of auto, incbin, array."),
        ({"io": None}, "--io must be a text in quotes, not None."),
        ({"backends": "CpuRef"}, "--backend must be a list, not 'CpuRef'."),
        ({"backends": (1,)}, "--backend[0] must be a text in quotes, not 1."),
        ({"layers_all": "all"}, "--layers must be true or false, not 'all'."),
        ({"debug": 1}, "--debug must be true or false, not 1."),
        ({"shapes": {"x": "1,2"}}, "--shape: x must be a list, not '1,2'."),
        ({"shapes": {"x": (-1, 3)}}, "--shape -1 is less than nothing; give a number from 1 on"),
        ({"shapes": {"x": (-(1 << 25), 3)}}, "--shape: x[0] = -33554432 is out of range"),
        ({"flash_wait": 1025}, "--flash-wait = 1025 is out of range; it must be 0 to 1024."),
        ({"shapes": [("x", (1, 2))]}, "--shape must be a table, not [('x', (1, 2))]."),
        ({"layer_backends": {"conv": 3}}, "--layer-backend: conv must be a text in quotes, not 3."),
        ({"requests": ("x",)}, "must be a table or a value of Requests, not ('x',)."),
        ({"pools": {"hot_weights": -1}}, "hot_weights = -1 is out of range; it must be 0 or more"),
        ({"pools": {"hot_weights": True}}, "hot_weights must be a whole number, not True."),
        ({"half": {"side": "middle", "tensors": ()}}, "--split middle is not known"),
    ],
)
def test_what_an_option_cannot_be_is_refused_where_it_is_made(
    wrong: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(UsageError, match=re.escape(sentence)):
        Options(**wrong)
    with pytest.raises(UsageError, match=re.escape(sentence)):
        replace(Options(), **wrong)


_names = st.text(CHARACTERS, min_size=1, max_size=4)
_tuples = st.lists(_names, max_size=2).map(tuple)
_options = st.builds(
    Options,
    backends=_tuples,
    layer_backends=st.dictionaries(_names, _names, max_size=2),
    strategy=st.sampled_from(["auto", "greedy", "cost"]),
    optimize_for=st.sampled_from(["balanced", "speed", "size", "ram"]),
    layers_all=st.booleans(),
    shapes=st.dictionaries(_names, st.lists(st.integers(1, 9), max_size=3), max_size=2),
    requests=st.builds(
        Requests,
        keep=_tuples,
        partitions=st.lists(st.builds(PartitionRequest, _names, _tuples, _tuples), max_size=2),
        states=st.lists(st.builds(StateRequest, _names, _names), max_size=2),
    ),
    half=st.none() | st.builds(Half, st.sampled_from(["head", "tail"]), _tuples),
    memory=st.sampled_from(["offline", "compact", "plain", "mru", "bestfit"]),
    pools=st.builds(
        PoolRequests,
        spread=st.booleans(),
        pinned=st.dictionaries(_names, _names, max_size=2),
        hot_weights=st.integers(0, 99),
    ),
)


@given(_options)
def test_what_a_report_holds_makes_the_options_again(options: Options) -> None:
    assert Options(**json.loads(json.dumps(asdict(options)))) == options


def test_nothing_typed_gives_the_defaults() -> None:
    assert from_typed({}) == Options()


def test_every_flag_is_a_parameter_of_build_and_a_field_of_pmx() -> None:
    commands = typer.main.get_command(create_app()).commands  # type: ignore[attr-defined]
    build = {name for p in commands["build"].params for name in p.opts}
    optimize = {name for p in commands["optimize"].params for name in p.opts}
    flags = [flag for flag, *_ in flagged()]
    assert len(flags) >= 16
    assert {flag.name for flag in flags} <= build
    assert {f.name for f in flags if not f.anew} == {f.name for f in flags} & optimize - {
        "--no-float"
    }


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ({"backend": "A,B"}, Options(backends=("A", "B"))),
        ({"layers": "all", "debug": True}, Options(layers_all=True, debug=True)),
        ({"shape": ["a=b=1,2"]}, Options(shapes={"a=b": (1, 2)})),
        ({"layer_backend": ["a=A", "a=A"]}, Options(layer_backends={"a": "A"})),
        ({"keep": ["a", "b"]}, Options(requests=Requests(keep=("a", "b")))),
        ({"pools": "auto", "pool": None}, Options(pools=PoolRequests(spread=True))),
    ],
)
def test_what_is_typed(typed: dict[str, Any], expected: Options) -> None:
    assert from_typed(typed) == expected


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ({"shape": ["x=1", "x=2"]}, "--shape names 'x' twice, with (1,) and (2,); name it once."),
        ({"shape": ["x=0"]}, "--shape x=0 is not of the form INPUT=1,3,96,96."),
        ({"shape": ["1,2"]}, "--shape 1,2 is not of the form INPUT=1,3,96,96."),
        ({"layer_backend": ["conv"]}, "--layer-backend conv is not of the form LAYER=ID."),
        ({"layers": "some"}, "--layers some is not known; it is built or all."),
        ({"pools": "on"}, "--pools on is not known; it is off or auto."),
    ],
)
def test_what_is_typed_wrong(typed: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError, match=re.escape(sentence)):
        from_typed(typed)
