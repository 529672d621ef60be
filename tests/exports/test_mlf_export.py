"""The exported Model Library Format archive, read and built as TVM's tools do."""

from __future__ import annotations

import datetime
import json
import subprocess
import tarfile
from dataclasses import replace
from pathlib import Path

import export_programs as programs
import pytest

from mcu_deploy.api.exporting import collect, export
from mcu_deploy.api.folder import open_objects
from mcu_deploy.exports import mlf
from mcu_deploy.exports.package import About


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory, sine: Path, quarter: Path) -> Path:
    path = tmp_path_factory.mktemp("mlf") / "sine.tar"
    export(sine, "mlf", path, data=quarter)
    return path


def test_the_metadata_are_what_tvm_reads(archive: Path) -> None:
    """By python/tvm/driver/tvmc/model.py, python/tvm/micro/testing/utils.py and
    tests/python/unittest/test_micro_model_library_format.py of TVM 0.14."""
    with tarfile.open(archive) as tar:
        assert {(m.mode, m.mtime, m.uid) for m in tar} == {(0o644, 0, 0)}
        content = tar.extractfile("./metadata.json")
        assert content is not None
        metadata = json.load(content)
        parameters = tar.extractfile("./parameters/sine.params")
        assert parameters is not None
        assert parameters.read().hex() == "b79c04054f8de5f7" + "00" * 24
    assert metadata["version"] == 7
    [(name, module)] = metadata["modules"].items()
    assert (name, module["model_name"], module["style"]) == ("sine", "sine", "full-model")
    assert module["executors"] == ["aot"]
    assert module["target"] == ["c -keys=arm_cpu,cpu -march=armv7e-m -mcpu=cortex-m4"]
    datetime.datetime.strptime(module["export_datetime"], "%Y-%m-%d %H:%M:%SZ")
    functions = module["memory"]["functions"]
    assert functions["main"] == [
        {
            "device": 1,
            "workspace_size_bytes": 80,
            "constants_size_bytes": 568,
            "io_size_bytes": 2,
            "inputs": {"serving_default_dense_input_0": {"size": 1, "dtype": "int8"}},
            "outputs": {"StatefulPartitionedCall_0": {"size": 1, "dtype": "int8"}},
        }
    ]
    layers = {f["function_name"]: f["workspace"] for f in functions["operator_functions"]}
    assert layers["dense_1"] == [{"device": 1, "workspace_size_bytes": 44}]


def test_pools_are_added_up_and_members_differ_in_more_than_case(sine: Path) -> None:
    exported = collect(open_objects(sine), About().package("sine"))
    (network,) = exported.networks
    pools, (x,), (y,) = network.report.pools, network.report.inputs, network.report.outputs
    report = replace(
        network.report, pools=(*pools, replace(pools[0], bytes=7)),
        inputs=(replace(x, name="workspace"),),
        outputs=(replace(y, name="a b"), replace(y, name="A_B")),
    )  # fmt: skip
    files = mlf.files(replace(exported, networks=(replace(network, report=report),)))
    module = json.loads(files["metadata.json"])["modules"]["sine"]
    (main,) = module["memory"]["functions"]["main"]
    assert main["workspace_size_bytes"] == 87
    assert ([*main["inputs"]], [*main["outputs"]]) == (["workspace_2"], ["a_b", "a_b_2"])


@pytest.mark.needs_arm_gcc
@pytest.mark.needs_qemu
def test_the_sources_of_codegen_are_a_program_that_answers(
    tmp_path: Path, archive: Path, other: Path, repository: Path
) -> None:
    """Also with those of another archive in the same folders."""
    for path in (export(other, "mlf", tmp_path / "other.tar").path, archive):
        subprocess.run(["tar", "-xf", path, "-C", tmp_path], check=True)
    host = tmp_path / "codegen/host"
    sources = [*sorted((host / "src").glob("*.c")), tmp_path / "samples/main.c"]
    include = [host / "include", tmp_path / "samples"]
    said = programs.answer_of(tmp_path, sources, include, repository)
    assert said == "sine: 1 of 1 values as expected, value 126\n"
