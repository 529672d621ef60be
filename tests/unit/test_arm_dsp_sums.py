"""ArmDsp's sums and differences: what integers compute as float32, and at what price."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from arm_dsp_proposals import M4, proposals_for
from arm_dsp_sum_cases import EXTREMES, LARGE, POWERS, REFUSED, TIED_PRODUCT, Sum, model
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_runs import runs
from sampling import examples

from mcu_deploy import formats, passes
from mcu_deploy.backends.ArmDsp import ArmDsp
from mcu_deploy.backends.ArmDsp.kernels import addition
from mcu_deploy.backends.interface import Proposals, layer_of
from mcu_deploy.ir import DType, Quantization, TensorType
from mcu_deploy.ir.types import channels_last
from mcu_deploy.ir.view import view_of_all
from mcu_deploy.operators import Call, find
from mcu_deploy.operators.base import evaluate


def proposed(cases: list[Sum], folder: Path) -> Proposals:
    return proposals_for(model(cases, folder / "sums.onnx"))


def a_call(op: str, scales: list[float], zeros: list[int], pairs: np.ndarray) -> Call:
    low = 128 if max(zeros) > 127 else 0
    dtype = DType.UINT8 if low else DType.INT8
    types = [
        TensorType(dtype, pairs[0].shape, Quantization((float(np.float32(scale)),), (zero,)))
        for scale, zero in zip(scales, zeros, strict=True)
    ]
    values = tuple((side + low).astype(dtype.numpy) for side in pairs)
    return Call(op, {}, values, tuple(types[:2]), (types[2],))


@given(
    st.sampled_from(["Add", "Sub"]),
    st.lists(st.floats(1e-2, 1.0), min_size=3, max_size=3),
    st.lists(st.integers(-128, 127), min_size=3, max_size=3), st.booleans(),
    st.integers(0, 2**32 - 1),
)  # fmt: skip
@settings(max_examples=examples(100, 20), deadline=None)
def test_what_was_solved_has_the_bits_of_the_oracle(
    op: str, scales: list[float], zeros: list[int], is_unsigned: bool, seed: int
) -> None:
    """In 32 bits, as SMLAWB computes."""
    pairs = np.random.default_rng(seed).integers(-128, 128, (2, 5000))
    pairs[:, :4] = [[-128, -128, 127, 127], [-128, 127, -128, 127]]
    call = a_call(op, scales, [z + 128 for z in zeros] if is_unsigned else zeros, pairs)
    if is_unsigned and call.results[0].dtype is DType.INT8:
        return
    scaling = addition.solve("", call)
    if scaling is None:
        return
    first = scaling.offset + (scaling.a * 256 * pairs[0] >> 16)
    sums = first + (scaling.b * 256 * pairs[1] >> 16)
    assert max(abs(first).max(), abs(sums).max(), abs(scaling.a), abs(scaling.b)) < 2**31
    given_ = (sums >> scaling.shift).clip(*call.results[0].dtype.range)
    operator = find("", op)
    assert operator is not None
    np.testing.assert_array_equal(given_, evaluate(operator, call)[0])


def test_most_scales_have_integers() -> None:
    """Else the property above says nothing."""
    random = np.random.default_rng(4)
    pairs = np.zeros((2, 1), np.int64)
    solved = [
        addition.solve(
            "",
            a_call(
                op,
                [*random.uniform(0.02, 0.1, 3)],
                [*map(int, random.integers(-128, 128, 3))],
                pairs,
            ),
        )
        for op in ("Add", "Sub") * 6
    ]
    assert sum(s is not None for s in solved) >= 11


def test_results_that_lie_halfway_are_rounded_as_in_float32(tmp_path: Path) -> None:
    """Of the product's pairs of bytes one in 200 is another element without the second half of the
    division."""
    cases = [TIED_PRODUCT, POWERS]
    path = model(cases, tmp_path / "ties.onnx")
    count = 2 * sum(case.elements for case in cases)
    x = np.random.default_rng(1).integers(-128, 128, count).astype(np.int8)
    results = [(run.result(), run.output) for run in runs(path, [x])]
    assert len(results) == 2 and all(result == output for result, output in results)


def test_the_larger_and_the_smaller_byte_are_the_oracles(tmp_path: Path) -> None:
    path = model(EXTREMES, tmp_path / "extremes.onnx")
    random = np.random.default_rng(2)
    inputs = [
        np.frombuffer(random.bytes(value.type.tensor_type.shape.dim[0].dim_value), value.name)
        for value in onnx.load(path).graph.input
    ]
    results = [(run.result(), run.output) for run in runs(path, inputs)]
    assert len(results) == len(EXTREMES) and all(result == output for result, output in results)


def test_layers_of_all_sizes_share_the_code(tmp_path: Path) -> None:
    cases = [LARGE, Sum(800), Sum(64, (0.01, 0.02, 0.019), (1, 2, 3))]
    codes = [p.price.code for p in proposed(cases, tmp_path).proposals]
    assert len(codes) == 3 and codes[0] == codes[1] == codes[2]


def test_the_price_is_near_what_the_timings_of_counted_instructions_say(tmp_path: Path) -> None:
    """Of the kernel's addresses counted in QEMU, by Arm's timings for the Cortex-M4."""
    (proposal,) = proposed([LARGE], tmp_path).proposals
    assert proposal.price.costs.cycles == pytest.approx(26_139, rel=0.02)


def test_a_sum_that_it_has_no_kernel_for_is_refused_with_the_reason(tmp_path: Path) -> None:
    for case, reason in REFUSED.items():
        assert any(reason in r for r in proposed([case], tmp_path).refused.values())


def test_a_constant_of_the_output_s_shape_lies_as_the_output_does(tmp_path: Path) -> None:
    shape = (1, 6, 2, 5)
    graph = passes.run(
        formats.load(model([Sum(shapes=(shape, shape), constant=1)], tmp_path / "sum.onnx"))
    )
    (proposal,) = ArmDsp().propose(view_of_all(graph), M4).proposals
    (node,) = proposal.part.nodes
    layer = layer_of(graph, node)
    last = replace(layer.output, type=replace(layer.output.type, layout=channels_last(4)))
    (workload,) = proposal.make([replace(layer, outputs=(last,))], None)
    value = graph.constant(layer.input(1).edge)
    assert value is not None
    np.testing.assert_array_equal(workload.constants[0].value, value.transpose(0, 2, 3, 1))
