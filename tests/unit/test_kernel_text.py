"""Loops, indices and names in the text of CpuRef's kernels."""

from __future__ import annotations

import jinja2
import pytest

from mcu_deploy.backends.kit.loops import counter, counters, each, nest, plus, times, when
from mcu_deploy.backends.kit.stems import sizes, stem
from mcu_deploy.backends.kit.strides import Plane

TEMPLATE = """\
{% set r = counter('r', rows) %}
{
{% call each(r, 'x += 4') %}
{% call each(n) %}
            sum += x[{{ plus(times(r, 4), times(n, 1), shift) }}];
{% endcall %}
{% endcall %}
}
"""


def rendered(rows: int, last: int | str, first: str = "0", shift: int = 0) -> str:
    environment = jinja2.Environment(trim_blocks=True, lstrip_blocks=True)
    environment.globals |= {"counter": counter, "each": each, "plus": plus, "times": times}
    return environment.from_string(TEMPLATE).render(
        rows=rows, n=counter("n", last, first), shift=shift
    )


def test_a_loop_is_around_what_it_repeats() -> None:
    assert rendered(2, 3, shift=-1) == (
        "{\n"
        "    for (int32_t r = 0; r < 2; r++, x += 4) {\n"
        "        for (int32_t n = 0; n < 3; n++) {\n"
        "            sum += x[r * 4 + n - 1];\n"
        "        }\n"
        "    }\n"
        "}"
    )


def test_what_has_one_step_leaves_neither_loop_nor_index() -> None:
    assert (
        rendered(1, 3) == "{\n    for (int32_t n = 0; n < 3; n++) {\n        sum += x[n];\n    }\n}"
    )
    assert rendered(2, 1) == (
        "{\n    for (int32_t r = 0; r < 2; r++, x += 4) {\n        sum += x[r * 4];\n    }\n}"
    )
    assert rendered(1, 1) == "{\n    sum += x[0];\n}"


def test_bounds_may_be_known_at_run_time_only() -> None:
    assert "    for (int32_t n = n_begin; n < n_end; n++) {\n" in rendered(1, "n_end", "n_begin")
    assert "    for (int32_t n = 1; n < 1; n++) {\n" in rendered(1, 1, "1")


def test_loops_in_one_another_are_numbered_without_those_of_one_step() -> None:
    assert counters("i", (1, 4, 1, 3)) == ("", "i0", "", "i1")
    assert nest("i", (1, 4, 1, 3), caller=lambda: "    sum += x;\n    n++;\n") == (
        "for (int32_t i0 = 0; i0 < 4; i0++) {\n"
        "    for (int32_t i1 = 0; i1 < 3; i1++) {\n"
        "        sum += x;\n"
        "        n++;\n"
        "    }\n"
        "}\n"
    )
    assert nest("i", (1, 1), caller=lambda: "        sum += x;\n") == "    sum += x;\n"


def test_an_if_is_around_what_it_is_for() -> None:
    body = "            sum += x;\n"
    assert when("x > 0", caller=lambda: body) == f"        if (x > 0) {{\n{body}        }}\n"
    assert when("", caller=lambda: body) == "        sum += x;\n"


def test_products_and_sums_say_no_more_than_they_must() -> None:
    assert times("i", 1) == "i"
    assert times("i", -1) == "-i"
    assert times("i", -3) == "-i * 3"
    assert times("i + 1", -2) == "-(i + 1) * 2"
    assert times(times("i", 3), 4) == "i * 12"
    assert times("i + 1", 2) == "(i + 1) * 2"
    assert times("", 5) == times("0", 5) == times("i", 0) == ""
    assert plus("x", "", 0) == "x"
    assert plus("x", times("i", 2), 3, -5) == "x + i * 2 - 2"
    assert plus("x", times("i", -2), times("j", -1)) == "x - i * 2 - j"
    assert plus("", 0) == plus() == "0"
    assert plus("", -4) == "-4"


def window(**changes: tuple[int, int]) -> Plane:
    values = {
        "input": (8, 8), "output": (8, 8), "kernel": (3, 3), "stride": (1, 1),
        "dilation": (1, 1), "pad": (1, 1),
    }  # fmt: skip
    return Plane(**(values | changes))


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({}, "conv3x3_8x16_int8"),
        ({"stride": (2, 2), "output": (4, 4)}, "conv3x3_8x16_s2_int8"),
        ({"stride": (2, 1), "output": (4, 8)}, "conv3x3_8x16_s2x1_int8"),
        ({"stride": (2, 2), "output": (1, 1)}, "conv3x3_8x16_int8"),
        ({"dilation": (2, 2)}, "conv3x3_8x16_d2_int8"),
        ({"kernel": (1, 3), "dilation": (2, 2)}, "conv1x3_8x16_d1x2_int8"),
    ],
)
def test_a_name_tells_window_shape_and_steps(
    changes: dict[str, tuple[int, int]], name: str
) -> None:
    assert stem("conv", "int8", 8, 16, window=window(**changes)) == name


def test_a_pool_s_steps_are_its_window_s() -> None:
    pool = window(kernel=(2, 2), stride=(2, 2), output=(4, 4), pad=(0, 0))
    assert stem("max_pool", "int8", 16, window=pool) == "max_pool2x2_16_int8"
    assert stem("softmax", "float32", 12) == "softmax_12_float32"
    assert stem("add", "int8") == "add_int8"
    assert stem("slice", "int8", *sizes((1, 4, 1, 8))) == "slice_4x8_int8"


def test_an_axis_is_padded_where_a_window_reaches_beyond_it() -> None:
    assert window().padded == (True, True)
    assert window(kernel=(1, 3), pad=(0, 1)).padded == (False, True)
    assert window(pad=(0, 0), output=(6, 6)).padded == (False, False)
    assert window(pad=(0, 0), output=(6, 7)).padded == (False, True)
    assert window(pad=(-1, 0), output=(5, 6)).padded == (True, False)
