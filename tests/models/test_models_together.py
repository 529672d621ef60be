"""Many networks in one firmware: run in turn, each gives the oracle's bits, and takes what is its.

In the sample two small ones; in the whole matrix every int8 model that the benchmarks measure, 17
of them in 1.9 MB of flash and 0.7 MB of RAM.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from models.mlperf import first_samples

from benchmarks import run
from mcu_deploy import interpreter
from mcu_deploy.agreement.runs import run_samples
from mcu_deploy.api.building import build
from mcu_deploy.api.folder import open_folder
from mcu_deploy.api.running import Connection, open_device
from mcu_deploy.files.samples import Samples, load_samples
from mcu_deploy.hygiene import ImagePart, check_files
from mcu_deploy.session import Session

# By the networks' names; the format that the model was quantized in.
ALL = {
    name: f"{name}/model.{'onnx' if '_q' in name else 'tflite'}"
    for name in (*run.INT8, *run.MORE_INT8)
}
SMALL = {form: f"tflm_hello_world_int8/model.{form}" for form in ("tflite", "onnx")}


@pytest.mark.needs_arm_gcc
@pytest.mark.needs_qemu
@pytest.mark.matrix  # in the sample test_whole_way.py has two
@pytest.mark.parametrize("models", [SMALL, ALL], ids=len)
def test_networks_run_in_turn_and_none_disturbs_another(
    models: Mapping[str, str], models_dir: Path, tmp_path: Path
) -> None:
    paths, names = [models_dir / file for file in models.values()], tuple(models)
    with Session() as session:
        built = build(paths, "mps2-an500", tmp_path / "b", name=names, session=session)
        networks = {made.network.name: made.network for made in built.networks}
        given: dict[str, Samples] = {}
        for (name, network), path in zip(networks.items(), paths, strict=True):
            recorded = first_samples(path.with_name("io.npz"), 1, tmp_path)
            given[name] = load_samples(recorded, network.graph, network.inputs)
        with open_device(open_folder(built.directory), Connection()) as device:
            # Forth and back: each runs behind each neighbour, and finds its own memory as it was.
            for name in (*names, *reversed(names)):
                network = networks[name]
                (result,) = run_samples(device, network, given[name], watch=False)
                wanted = interpreter.run(network.graph, list(given[name].inputs[0]))
                for ours, theirs in zip(result.outputs, wanted, strict=True):
                    assert ours.tobytes() == theirs.tobytes(), name
    _assert_each_takes_its_own(built.directory, names)


def _assert_each_takes_its_own(folder: Path, names: tuple[str, ...]) -> None:
    objects = [folder / f"network_{name}.o" for name in names]
    together = check_files([*objects, folder / "libmcu_crt.a"])
    assert together.findings == ()
    report = check_files([folder / "firmware.elf"])
    assert report.findings == ()
    (image,) = report.files
    assert [model.name for model in image.models] == sorted(names)
    parts = {part.networks: part for part in image.parts if part.kind == "network"}
    assert sorted(parts) == [(name,) for name in sorted(names)]
    for file in together.files[:-1]:
        (model,) = file.models
        part, workspace = parts[model.name,], model.workspace_bytes
        assert workspace is not None and 0 <= part.ram_bytes - workspace < 64
        # The linker keeps equal texts once: of all networks' names of tensors.
        assert 0 <= model.flash_bytes - part.flash_bytes < 700, model.name
        own = f"_mcu_{model.name}_", f"_mcu_network_{model.name}"
        for piece in part.pieces:
            assert any(name in piece.name for name in own) or piece.name.startswith(
                (".rodata.str", ".bss.mcu_workspace")
            )
    assert _functions(image.parts, tuple(sorted(names)), program=True) >= {"memcpy"}
    (runtime,) = (part for part in image.parts if part.kind == "runtime")
    assert runtime.networks == tuple(sorted(names))
    assert 1000 < runtime.flash_bytes < 5000, "once, however many networks there are"


def _functions(parts: tuple[ImagePart, ...], networks: tuple[str, ...], program: bool) -> set[str]:
    return {
        piece.symbol
        for part in parts
        if (part.kind, part.networks, part.program) == ("library", networks, program)
        for piece in part.pieces
    }
