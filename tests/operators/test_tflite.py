"""TFLite's quantized operators: the compiled kernels give the oracle's bits, for many shapes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from operators.lab import compile_files, run_on_host
from operators.tflite_cases import FAMILIES, RECORDED, all_cases
from operators.tflite_one import Case

from mcu_deploy import formats, interpreter, passes

pytestmark = pytest.mark.needs_host_gcc


@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.__name__)
def test_kernels_give_the_oracles_bits(
    family: Callable[[np.random.Generator], Iterator[Case]], tmp_path: Path
) -> None:
    compiled = compile_files(family(np.random.default_rng(8)), tmp_path)
    assert compiled
    failures = []
    for item, device in zip(compiled, run_on_host(compiled, tmp_path), strict=True):
        wanted = interpreter.run(item.graph, list(item.case.inputs))
        for ours, theirs in zip(device, wanted, strict=True):
            if theirs.dtype.kind == "f":
                close = np.allclose(ours, theirs, rtol=0, atol=1e-5 * np.abs(theirs).max())
            else:
                close = np.array_equal(ours, theirs)
            if not close:
                failures.append(f"{item.case.name}: {np.count_nonzero(ours != theirs)} differ")
    assert not failures


def test_the_oracle_gives_what_tflite_micro_gives(tmp_path: Path) -> None:
    """Bit for bit, and for the hybrid layers, which LiteRT computed, within 1e-6."""
    path = tmp_path / "case.tflite"
    with np.load(RECORDED) as recorded:
        names = []
        for case in all_cases():
            path.write_bytes(case.content)
            graph = passes.run(formats.load(path))
            (ours,) = interpreter.run(graph, list(case.inputs))
            wanted = recorded[case.name]
            names.append(case.name)
            assert ours.dtype == wanted.dtype, case.name
            if case.name.startswith("hybrid"):
                assert np.allclose(ours, wanted, rtol=0, atol=1e-6 * np.abs(wanted).max()), (
                    case.name
                )
            else:
                assert np.array_equal(ours, wanted), case.name
        assert sorted(names) == sorted(recorded.files)
