"""ArmDsp's kernels that are no convolutions on the cores: the oracle's bits, and instructions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import arm_dsp_matmul_cases
import arm_dsp_pool_cases
import arm_dsp_softmax_cases
import arm_dsp_sum_cases
import arm_dsp_table_cases
import arm_mve_mean_cases
import pytest
from kernel_builds import MARKS, right
from sampling import examples, first, part

from mcu_deploy.api.profiling import profile

pytestmark = MARKS


@dataclass(frozen=True)
class Family:
    """cases: their module, with TAKEN and `model`, which calls layers by `word` and the case's
    number. counts: of a case, what it may take on a Cortex-M4 for each of so many units: more than
    the first, and no more than the second. later: which of these are for the whole matrix: bytes
    over an emulator's line are what takes long."""

    cases: ModuleType
    word: str
    counts: Mapping[Any, tuple[float, float, float]]
    boards: tuple[str, ...] = ("mps2-an386", "mps2-an500")
    later: tuple[Any, ...] = ()
    goal: str = "speed"
    unit: str = "cost"

    @property
    def refused(self) -> list[Any]:
        return [*getattr(self.cases, "REFUSED", ())]


def _families() -> dict[str, Family]:
    matmul, pool, softmax = arm_dsp_matmul_cases, arm_dsp_pool_cases, arm_dsp_softmax_cases
    sums, table = arm_dsp_sum_cases, arm_dsp_table_cases
    three = ("mps2-an386", "mps2-an500", "mps2-an505")
    return {
        # of each element: LDM of four words, eight SXTAB16 and the pointer for 16 channels
        "pools": Family(pool, "pool", {
            pool.ODD: (9 / 16, 0.71, 64 * 125),
            pool.EVEN: (9 / 16, 1.25, 64 * 64),
            pool.LARGE: (9 / 16, 1, 16 * 1024),
            pool.LARGEST: (7 / 16, 0.78, 32 * 256),
            # LDR and STR instead of LDM and STM, and a word that is half one of before
            pool.UNEVEN: (1, 1.9, 6 * 24**2),
            # 23 of 24 rows and columns of the windows are inside
            pool.PADDED: (9 / 16, 1.5, 16 * 23**2),
            pool.PADDED_AVERAGE: (9 / 16, 2.6, 16 * 46**2),
        }, later=(pool.LARGE, pool.LARGEST), goal="balanced"),
        # of each element two multiplications and what saturates it
        "sums": Family(sums, "sum", {
            sums.LARGE: (3, 5.7, sums.LARGE.elements),
            sums.LARGE_PRODUCT: (3, 6.1, sums.LARGE_PRODUCT.elements),
            # two conversions to float32 and one back, three products, and the two of a division
            sums.TIED_PRODUCT: (18, 20, sums.TIED_PRODUCT.elements),
        }, goal="balanced"),
        # of 24 products 12 SMLAD, 4 extensions and 4 loads, and what is around them
        "products": Family(
            matmul, "product", {matmul.HEAD: (20 / 24, 1.35, matmul.HEAD.macs)}, three
        ),
        "softmax": Family(softmax, "softmax", {
            softmax.HEAD: (10, 23, softmax.HEAD.shape[0] * softmax.HEAD.shape[1]),
        }, three),
        # of each element two loads, of which one in sixteen stands behind no other, and the store
        "tables": Family(
            table, "table", {table.LARGE: (3.1, 3.6, table.LARGE.elements)}, unit="cycles"
        ),
    }  # fmt: skip


FAMILIES = _families()


@pytest.mark.parametrize(
    ("name", "board"),
    [case for n, f in FAMILIES.items() for case in first([(n, board) for board in f.boards])],
)
def test_every_case_gives_the_bits_of_the_oracle(name: str, board: str, tmp_path: Path) -> None:
    family = FAMILIES[name]
    later = family.later[examples(len(family.later), 0) :]
    counted = [case for case in family.counts if case not in later]
    taken = [case for case in family.cases.TAKEN if case not in later]
    cases = [*part(taken, 4, counted), *family.refused]
    path = family.cases.model(cases, tmp_path / f"{name}.onnx")
    built = right(path, board, tmp_path, family.goal)
    backends = {layer.name: layer.backend for layer in built.report.layers}
    answers = [backends[f"{family.word}{n}"] for n in range(len(cases))]
    refused = len(family.refused)
    assert answers == ["ArmDsp"] * (len(cases) - refused) + ["CpuRef"] * refused
    if board == "mps2-an386":
        counts = {layer.name: layer for layer in profile(built.directory).layers}
        for case in counted:
            least, most, units = family.counts[case]
            count = getattr(counts[f"{family.word}{cases.index(case)}"], family.unit)
            assert least * units < count <= most * units, case


@pytest.mark.parametrize("board", first(["mps2-an386", "mps2-an505"], 1))
def test_means_and_maxima_over_axes_give_the_bits_of_the_oracle(board: str, tmp_path: Path) -> None:
    """Of channels by four, of maxima four and more."""
    cases = arm_mve_mean_cases.TAKEN
    path = arm_mve_mean_cases.model(cases, tmp_path / "cases.onnx")
    built = right(path, board, tmp_path, "speed")
    mine = {layer.name for layer in built.report.layers if layer.backend == "ArmDsp"}
    assert {name for name in mine if name.startswith("mean")} == {
        f"mean{number}"
        for number, case in enumerate(cases)
        if case.channels % 4 == 0 or (case.channels > 4 and case.op == "ReduceMax")
    }
