"""Which ranges, which equalisation, biases corrected or not: what samples that took no part say.

Of few samples each third is kept out once; of many one third. Then the model is made by what won,
from all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import onnx

from mcu_deploy.errors import RequestError
from mcu_deploy.files.arrays import Array
from mcu_deploy.files.samples import SampleFile
from mcu_deploy.output.progress import tell
from mcu_deploy.quantizing import biases, equalizing, judging
from mcu_deploy.quantizing.integers import quantized
from mcu_deploy.quantizing.judging import Results
from mcu_deploy.quantizing.net import Net
from mcu_deploy.quantizing.ranges import METHODS, Range, ranges
from mcu_deploy.quantizing.recurrent_moments import second_moments
from mcu_deploy.quantizing.sixteen_bits import wide_tensors
from mcu_deploy.quantizing.statistics import SampleShare, Summary, observe

_THIRDS = 3
_FEW = 60
_MOST_JUDGED = 256
# By how many standard errors of the mean, and by how many dB more, something has to be better than
# what needs no choice: of few samples the best of many is best by chance.
_ERRORS, _ERRORS_OF_MANY, _MANY = 2.0, 1.0, 100
_MARGIN = 0.1


@dataclass(frozen=True)
class Recipe:
    """method: of METHODS; equalised: of equalizing.KINDS; one_scale, in_float: names of nodes
    whose weights have one scale for all outputs, and of such as stay in float32; in_16_bits: of
    those between tensors of int16."""

    method: str = "min-max"
    equalised: str = equalizing.NONE
    biases: bool = False
    one_scale: tuple[str, ...] = ()
    in_float: tuple[str, ...] = ()
    in_16_bits: tuple[str, ...] = ()

    def __str__(self) -> str:
        more = [] if self.equalised == equalizing.NONE else [f"equalised ({self.equalised})"]
        more += ["biases corrected"] if self.biases else []
        more += [f"one scale in {len(self.one_scale)} dense layers"] if self.one_scale else []
        more += [f"int16 around {len(self.in_16_bits)} layers"] if self.in_16_bits else []
        return ", ".join([self.method, *more])


SAFE = Recipe("min-max, widened", biases=True)

# A net, what lies in its tensors, and what became of their channels (`equalizing.equalised`).
_Observed = tuple[Net, dict[str, Summary], dict[str, Array]]


@dataclass
class Trials:
    """Recipes tried on a net, with what is known of it kept. scores: their mean SQNR in dB.

    all_wide: whether every recipe has int16 wherever builds compute it; wide_borders: whether
    inputs and outputs of the model may be that.
    """

    net: Net
    file: SampleFile
    all_wide: bool = False
    wide_borders: bool = False
    samples: dict[Recipe, Array] = field(default_factory=dict)
    _observed: dict[tuple[str, frozenset[int]], _Observed] = field(default_factory=dict)
    _moments: dict[frozenset[int], dict[str, Array]] = field(default_factory=dict)
    _ranges: dict[tuple[str, str, frozenset[int]], dict[str, Range]] = field(default_factory=dict)
    _wanted: dict[frozenset[int], Results] = field(default_factory=dict)

    def make(self, recipe: Recipe, part: SampleShare) -> onnx.ModelProto:
        """The model of int8 by a recipe, from some of the samples; inputs and outputs float32."""
        net, summaries, _ = self._of(recipe.equalised, part)
        key = (recipe.method, recipe.equalised, part.numbers)
        if key not in self._ranges:
            self._ranges[key] = ranges(net, summaries, recipe.method)
        limits = self._ranges[key]
        if part.numbers not in self._moments:
            self._moments[part.numbers] = second_moments(self.net, part)
        wide = self.wide(recipe, net)
        if wide:
            # 65,536 steps are enough for all that is there.
            whole = ranges(net, summaries, SAFE.method)
            limits = {name: (whole if name in wide else limits)[name] for name in limits}
        how = limits, self._moments[part.numbers], recipe.in_float, recipe.one_scale, wide
        made = quantized(net, *how)
        return quantized(biases.corrected(net, made, summaries), *how) if recipe.biases else made

    def wide(self, recipe: Recipe, net: Net | None = None) -> frozenset[str]:
        """The tensors of int16. net: the one that the recipe's equalisation made."""
        layers = {n.name for n in self.net.nodes} if self.all_wide else set(recipe.in_16_bits)
        layers -= set(recipe.in_float)
        return wide_tensors(net or self.net, layers, self.wide_borders) if layers else frozenset()

    def factors(self, recipe: Recipe, part: SampleShare) -> dict[str, Array]:
        """What `equalizing.equalised` says of the tensors that a recipe changes."""
        return self._of(recipe.equalised, part)[2]

    @property
    def scores(self) -> dict[Recipe, float]:
        return {recipe: float(found.mean()) for recipe, found in self.samples.items()}

    def score(self, recipe: Recipe) -> float:
        """The mean SQNR in dB on samples that the model was not made from."""
        if recipe not in self.samples:
            found = []
            for own, kept in thirds(self.file):
                model = self.make(recipe, own)
                results = judging.results(model, judging.judged_names(model), kept)
                found.append(judging.by_sample(results, self.wanted(kept)))
            self.samples[recipe] = np.concatenate(found)
        return float(self.samples[recipe].mean())

    def wanted(self, part: SampleShare) -> Results:
        """What the float model says of samples."""
        if part.numbers not in self._wanted:
            model = self.net.model()
            names = judging.judged_names(model)
            self._wanted[part.numbers] = judging.results(model, names, part)
        return self._wanted[part.numbers]

    def _of(self, kind: str, part: SampleShare) -> _Observed:
        key = (kind, part.numbers)
        if key not in self._observed:
            if kind == equalizing.NONE:
                self._observed[key] = self.net, observe(self.net, part), {}
            else:
                summaries = self._of(equalizing.NONE, part)[1]
                net, factors = equalizing.equalised(self.net, summaries, kind)
                self._observed[key] = net, observe(net, part), factors
        return self._observed[key]


def thirds(file: SampleFile) -> Sequence[tuple[SampleShare, SampleShare]]:
    """Pairs of samples to make a model from and samples to judge it on."""
    count = len(file)
    if count < 2:
        raise RequestError(
            f"{file.path} holds one sample, and ranges are chosen by samples that took no part. "
            "Give some hundreds, of all that the model will see."
        )
    found = []
    for third in range(_THIRDS) if count < _FEW else (_THIRDS - 1,):
        kept = [n for n in range(count) if n % _THIRDS == third]
        own = frozenset(range(count)) - frozenset(kept)
        step = -(-len(kept) // _MOST_JUDGED)
        if kept and own:
            found.append(
                (
                    SampleShare(file, own),
                    SampleShare(file, frozenset(kept[::step] if step else kept)),
                )
            )
    return found


def parts(file: SampleFile) -> tuple[SampleShare, SampleShare]:
    """The samples that a model is made from, and those that it is judged on: of few all, twice."""
    if len(file) < _FEW:
        whole = SampleShare(file, frozenset(range(len(file))))
        return whole, whole
    return thirds(file)[0]


def choose(trials: Trials) -> Recipe:
    """The recipe with the best score: each question is asked with the answers so far.

    Another than SAFE only where the samples tell them apart.
    """
    kinds = [kind for kind in equalizing.KINDS if kind != equalizing.NONE]
    kinds = kinds if equalizing.has_pairs(trials.net) else []
    most = len(METHODS) + 2 * len(kinds) + 1

    def best(recipes: Sequence[Recipe]) -> Recipe:
        for recipe in (SAFE, *recipes):
            tell("trying recipes", len(trials.samples), most)
            trials.score(recipe)
        return max(trials.samples, key=lambda r: _surplus(trials, r))

    best([replace(SAFE, method=method) for method in METHODS])
    order = sorted(METHODS, key=lambda m: -trials.scores[replace(SAFE, method=m)])
    if kinds:
        methods = dict.fromkeys((SAFE.method, order[0]))
        best([replace(SAFE, method=m, equalised=kind) for kind in kinds for m in methods])
    winner = best([])
    winner = best([replace(winner, biases=False)])
    return winner if _surplus(trials, winner) > _MARGIN else SAFE


def _surplus(trials: Trials, recipe: Recipe) -> float:
    """By how many dB a recipe is better than SAFE, as far as the samples tell."""
    if recipe == SAFE:
        return 0.0
    apart = trials.samples[recipe] - trials.samples[SAFE]
    error = float(apart.std(ddof=1)) / np.sqrt(len(apart)) if len(apart) > 1 else np.inf
    return float(apart.mean() - (_ERRORS if len(apart) < _MANY else _ERRORS_OF_MANY) * error)
