"""How much accuracy may be lost, or time be spent: what decides what gets int16 or float32."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import onnx

from mcu_deploy import compiler
from mcu_deploy.boards import Board
from mcu_deploy.errors import RequestError, UsageError
from mcu_deploy.files.arrays import Array
from mcu_deploy.output.progress import tell
from mcu_deploy.quantizing import judging
from mcu_deploy.quantizing.borders import with_borders
from mcu_deploy.quantizing.choosing import Recipe, Trials, thirds
from mcu_deploy.quantizing.sensitivity import Sensitivity, with_more_bits

_FORM = re.compile(r"([0-9]+(?:\.[0-9]+)?) *(dB|%|cycles)", re.IGNORECASE)


@dataclass(frozen=True)
class Budget:
    """unit: "db", the mean SQNR that has to be reached; "%", the points of top-1 that may be lost;
    "cycles", what one run may take by the price of a build."""

    value: float
    unit: str

    @classmethod
    def parsed(cls, text: str) -> Budget:
        """Raises UsageError for what is none."""
        found = _FORM.fullmatch(text.strip())
        if found is None:
            raise UsageError(
                f"--budget {text} is none: it is an SQNR to reach (35dB), points of top-1 that may "
                "be lost (1%), or cycles of one run on --board (200000cycles)."
            )
        return cls(float(found[1]), found[2].lower())

    def require(self, labels: Array | None, board: Board | None) -> None:
        """Raises RequestError where what it is of was not given: before models are made."""
        if self.unit == "cycles" and board is None:
            raise RequestError("--budget in cycles is of a board. Give --board, or a budget in dB.")
        if self.unit == "%" and labels is None:
            raise RequestError(
                "--budget in % is of top-1, and the samples have no classes. Give --labels, or a "
                "budget in dB."
            )


def within(
    budget: Budget, trials: Trials, recipe: Recipe, table: Sequence[Sensitivity],
    labels: Array | None, board: Board | None,
) -> Recipe:  # fmt: skip
    """The recipe with the layers in int16 or float32 that a budget asks for or allows, the cheapest
    first.

    labels, board: what it is of (`Budget.require`). Raises RequestError where it cannot be kept.
    """
    if budget.unit == "cycles":
        assert board is not None
        return _as_many_as_fit(budget, trials, recipe, table, board)
    best = -float("inf")
    for each, sqnr in with_more_bits(trials, recipe, table):
        tell(f"{_said(each)}: {sqnr:.2f} dB")
        if budget.unit == "db":
            reached, best = sqnr >= budget.value, max(best, sqnr)
        else:
            assert labels is not None
            lost = _points_lost(trials, each, labels)
            reached, best = lost <= budget.value, max(best, -lost)
        if reached:
            return each
    said = f"{best:.2f} dB" if budget.unit == "db" else f"{-best:.2f} points lost"
    raise RequestError(
        f"With all {len(table)} layers in float32 the model reaches {said}: what lies between them "
        "is quantized still. Give a budget that can be kept, or build the float model."
    )


def _points_lost(trials: Trials, recipe: Recipe, labels: Array) -> float:
    """Of top-1, in points, over the samples that models are judged on."""
    lost = []
    for own, kept in thirds(trials.file):
        model = trials.make(recipe, own)
        found = judging.results(model, judging.judged_names(model), kept)
        right = labels[sorted(kept.numbers)]
        lost.append(judging.top1(trials.wanted(kept), right) - judging.top1(found, right))
    return 100 * sum(lost) / len(lost)


def _as_many_as_fit(
    budget: Budget, trials: Trials, recipe: Recipe, table: Sequence[Sensitivity], board: Board
) -> Recipe:  # fmt: skip
    least = cycles(trials, recipe, board)
    if least > budget.value:
        raise RequestError(
            f"With no layer in float32 one run takes {least:,} modelled cycles on {board.name}, "
            f"more than the budget of {budget.value:,.0f}. Give a larger one, or a smaller model."
        )
    chosen = recipe
    for each, _ in with_more_bits(trials, recipe, [s for s in table if s.gain_a_mac > 0]):
        taken = cycles(trials, each, board)
        tell(f"{_said(each)}: {taken:,} cycles")
        if taken > budget.value:
            break
        chosen = each
    return chosen


def _said(recipe: Recipe) -> str:
    wide = f"{len(recipe.in_16_bits)} layers in int16, " if recipe.in_16_bits else ""
    return f"{wide}{len(recipe.in_float)} in float32"


def cycles(trials: Trials, recipe: Recipe, board: Board) -> int:
    """What one run takes by the price of a build for a board: modelled, without wait states."""
    with tempfile.TemporaryDirectory(prefix="mcu-deploy-quantize-") as folder:
        path = Path(folder) / "model.onnx"
        onnx.save(with_borders(trials.make(recipe, thirds(trials.file)[0][0]), "int8"), str(path))
        network = compiler.compile_model(path, board)
    return sum(step.choice.workload.costs.cycles or 0 for step in network.plan.steps)
