"""A build on an emulated board when things go wrong: faults with names, wrong layers named."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from command_line import call
from device.broken_backends import Broken, Endless
from device.protocol_lab import server

from mcu_deploy.api.building import build
from mcu_deploy.api.connecting import connect
from mcu_deploy.api.folder import BuildFolder, as_folder, open_folder
from mcu_deploy.api.running import Connection, open_device, run
from mcu_deploy.api.validating import validate
from mcu_deploy.backends.registry import Registry
from mcu_deploy.device.line.codes import Provoke
from mcu_deploy.errors import DeviceError
from mcu_deploy.files.samples import load_samples
from mcu_deploy.hygiene import check_files
from mcu_deploy.options import Options
from mcu_deploy.session import Session

pytestmark = [pytest.mark.needs_arm_gcc, pytest.mark.needs_qemu]


@pytest.fixture(scope="module")
def kws(kws_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> BuildFolder:
    folder = tmp_path_factory.mktemp("whole") / "kws"
    options = Options(backends=("CpuRef",))
    build(kws_dir / "model.onnx", "mps2-an386", folder, name="kws", options=options)
    return open_folder(folder)


def test_the_parts_of_a_firmware_add_up_to_what_the_build_says(kws: BuildFolder) -> None:
    (image,) = check_files([kws.firmware]).files
    said = kws.report
    assert sum(part.flash_bytes for part in image.parts) == said.firmware_flash_bytes
    assert sum(part.ram_bytes for part in image.parts) == said.firmware_ram_bytes


def test_a_fault_inside_a_layer_names_cause_function_and_layer(kws: BuildFolder) -> None:
    network = kws.compile_again("kws")
    sample = np.zeros(network.graph.type(network.graph.inputs[0]).shape, np.int8)
    with pytest.raises(DeviceError) as caught, open_device(kws) as device:
        device.provoke(Provoke.UNDEFINED_INSTRUCTION, layer=4)
        device.infer("kws", [sample])
    sentence = str(caught.value)
    assert "undefined instruction" in sentence
    assert "provoke+0x" in sentence
    assert "layer 4 of kws is conv_3, the Conv " in sentence
    assert "Traceback" not in sentence


def test_the_device_answers_again_after_a_fault(kws: BuildFolder) -> None:
    from mcu_deploy import device as line
    from mcu_deploy.device import DeviceFault
    from mcu_deploy.device.emulators import open_emulator

    with (
        open_emulator(kws.board, kws.firmware) as emulator,
        line.connect(emulator.url, expect=kws.expected(), latency=3.0) as device,
    ):
        with pytest.raises(DeviceFault):
            device.provoke(Provoke.STACK_OVERFLOW)
            device.echo(b"x")
        device.await_restart()
        assert device.hello.board == "mps2-an386"
        assert device.models[0].name == "kws"


def test_a_connected_notebook_goes_on_after_a_fault(kws: BuildFolder) -> None:
    sample = np.zeros((1, 49, 10, 1), np.int8)
    with connect(kws) as device:
        expected = device.run(sample)
        device.line.provoke(Provoke.UNDEFINED_INSTRUCTION, layer=4)
        with pytest.raises(DeviceError, match="layer 4 of kws is conv_3, the Conv "):
            device.run(sample)
        assert np.array_equal(np.asarray(device.run(sample)), np.asarray(expected))


def test_validate_names_the_first_layer_that_differs(kws_dir: Path, tmp_path: Path) -> None:
    registry = Registry.builtin().with_backend("Broken", Broken)
    with Session(registry) as session:
        options = Options(backends=("Broken", "CpuRef"))
        build(
            kws_dir / "model.onnx", "mps2-an386", tmp_path, name="kws", session=session,
            options=options,
        )  # fmt: skip
        folder = open_folder(tmp_path)
        graph = folder.compile_again("kws", session).graph
        samples = load_samples(kws_dir / "samples.npz", graph).first(1)
        result = validate(folder, samples, layers=True, session=session)
    assert not result.passed
    assert result.layers is not None
    first = result.layers.differences[0]
    assert (first.layer, first.op) == (9, "AveragePool")
    assert first.index == (0, 0, 0, 0)
    assert first.device != first.oracle
    assert any("AveragePool" in problem and "layer 9" in problem for problem in result.problems), (
        result.problems
    )
    # what comes before it is right, so only what comes after it may differ as well
    assert {d.layer for d in result.layers.differences} <= {9, 10, 11}


@pytest.mark.parametrize("name", ["mps2-an386", pytest.param("host", marks=pytest.mark.matrix)])
def test_a_kernel_that_does_not_end_is_named_with_its_backend(
    kws_dir: Path, tmp_path: Path, name: str
) -> None:
    registry = Registry.builtin().with_backend("Endless", Endless)
    with Session(registry) as session:
        options = Options(backends=("Endless", "CpuRef"))
        build(kws_dir / "model.onnx", name, tmp_path, name="kws", session=session, options=options)
        folder = open_folder(tmp_path)
        samples = load_samples(
            kws_dir / "samples.npz", folder.compile_again("kws", session).graph
        ).first(1)
        with pytest.raises(DeviceError) as caught:
            run(
                folder,
                samples,
                connection=Connection(run_timeout=0.5, latency=0.5),
                session=session,
            )
    sentence = str(caught.value)
    assert "a run that took too long" in sentence
    assert "layer 9 of kws is avg_pool_1, the AveragePool " in sentence
    assert "by the backend Endless" in sentence
    assert "No layer ended for 0.5 s" in sentence and "--run-timeout" in sentence


def test_an_argument_reaches_the_emulator(kws: BuildFolder, kws_dir: Path, tmp_path: Path) -> None:
    log = tmp_path / "qemu.log"
    samples = load_samples(kws_dir / "samples.npz", kws.compile_again("kws").graph).first(1)
    arguments = ("-d", "guest_errors", "-D", str(log))
    run(kws, samples, connection=Connection(arguments=arguments))
    assert log.exists()


def test_latency_and_retries_reach_the_line(kws: BuildFolder, kws_dir: Path) -> None:
    """To a line on which nothing ever comes; the defaults would take ten attempts and 18 s."""
    with server(lambda client, stop: stop.wait() and None) as url:
        source: list[str | Path] = [
            "run",
            kws.directory,
            "--input",
            kws_dir / "samples.npz",
            "--port",
            url,
        ]
        done = call(*source, "--latency", "0.05", "--retries", "1")
    assert done.returncode == 1
    assert f"No byte came from {url} (115200 baud) after 1 attempt:" in done.stderr
    assert call(*source, "--latency", "0").returncode == 2
    assert call(*source, "--retries", "0").returncode == 2


def test_two_models_in_one_firmware(kws_dir: Path, models_dir: Path, tmp_path: Path) -> None:
    models = [kws_dir / "model.onnx", models_dir / "mlperf_ad_int8" / "model.onnx"]
    folder = as_folder(build(models, "mps2-an386", tmp_path, name=["kws", "ad"]))
    for name, source in (("kws", "mlperf_kws_int8"), ("ad", "mlperf_ad_int8")):
        graph = folder.compile_again(name).graph
        samples = load_samples(models_dir / source / "io.npz", graph).first(2)
        assert validate(folder, samples, model=name, layers=True).passed
