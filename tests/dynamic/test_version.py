"""The version rule: the five worked examples of Arm NN's backend guide, by what they say."""

from __future__ import annotations

import pytest

from mcu_deploy.dynamic.version import Version, is_compatible, why_incompatible


def test_same_version_is_compatible() -> None:
    assert is_compatible((2, 4), (2, 4))


def test_earlier_minor_is_compatible() -> None:
    assert is_compatible((2, 1), (2, 4))


def test_later_minor_is_not_compatible() -> None:
    assert not is_compatible((2, 5), (2, 4))


def test_later_major_is_not_compatible() -> None:
    assert not is_compatible((2, 0), (1, 0))


def test_earlier_major_is_not_compatible() -> None:
    assert not is_compatible((2, 0), (3, 0))


@pytest.mark.parametrize("backend", [(0, 0), (1, 2**32 - 1), (2**32 - 1, 0)])
def test_the_ends_of_the_range_are_not_compatible(backend: Version) -> None:
    assert not is_compatible(backend, (1, 0))


def test_the_reason_says_who_must_change() -> None:
    assert why_incompatible((2, 5), (2, 4)) == (
        "it is written for version 2.5 of the backend interface, mcu-deploy has 2.4; "
        "update mcu-deploy, or build the backend for 2.4"
    )
    assert why_incompatible((2, 0), (3, 0)).endswith(
        "mcu-deploy has 3.0; build the backend for 3.0"
    )
