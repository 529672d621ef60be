"""A line that flips, drops and doubles bytes: everything arrives, once, and nothing wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from device.damaged_line import (
    DamagedLine,
    build_stepped_firmware,
    damaged,
    device_on,
    runtime_sources,
)
from device.protocol_lab import NETWORKS, X, Y, mini_layers

from mcu_deploy.device.line.codes import TensorKind, Type
from mcu_deploy.device.line.framing import Frame, encode_frame
from mcu_deploy.device.line.messages import ProtocolError, pack_read, pack_tensor, pack_write
from mcu_deploy.device.line.wire import DeviceRestarted
from mcu_deploy.errors import DeviceError

pytestmark = pytest.mark.needs_host_gcc


def byte(value: int) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    return np.array([value], np.uint8)


@pytest.fixture(scope="module")
def elf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("stepped") / "firmware.elf"
    return build_stepped_firmware(path, [NETWORKS, *runtime_sources()])


@pytest.mark.parametrize(("rate", "seed"), [(0.001, 1), (0.01, 2), (0.01, 3), (0.02, 4)])
def test_every_inference_arrives_and_none_is_wrong(elf: Path, rate: float, seed: int) -> None:
    with damaged(elf, rate, seed) as (device, _line):
        for round_ in range(3):
            x = np.roll(X, round_)
            z, w = device.infer("mini", [x, Y])
            assert [z.tobytes(), w.tobytes()] == mini_layers(x)[2]
        assert device.resent > 0


@pytest.mark.parametrize("seed", range(4))
def test_a_state_steps_once_a_run_whatever_reply_is_lost(elf: Path, seed: int) -> None:
    with damaged(elf, 0.02, seed) as (device, _line):
        device.reset_states("parts")
        sums = [int(device.infer("parts", [byte(0)])[0][0]) for _ in range(25)]
        assert sums == list(range(101, 126))
        assert device.state("parts", "sum") == [125]


def test_the_layers_of_a_network_with_states_are_those_of_one_run(elf: Path) -> None:
    """Lost events are had by running again: from the same state."""
    with damaged(elf, 0.0, 0) as (device, _line):
        first = device.watch("parts", [byte(7)])[0]
        second = device.watch("parts", [byte(7)])[0]
        assert first != second
    for seed in range(6):
        with damaged(elf, 0.015, seed) as (device, _line):
            device.reset_states("parts")
            assert device.watch("parts", [byte(7)])[0] == first
            assert device.watch("parts", [byte(7)])[0] == second


def test_frames_shrink_while_the_line_is_bad_and_grow_again(elf: Path) -> None:
    with damaged(elf, 0.0, 5) as (device, line):
        link = device._link
        assert link.piece_bytes == 1024 - 12
        line.rate = 0.01
        for _ in range(3):
            device.infer("mini", [X, Y])
        assert link.piece_bytes < 128
        line.rate = 0.0
        for _ in range(30):
            device.infer("mini", [X, Y])
        assert link.piece_bytes == 1024 - 12


def lose_next(line: DamagedLine) -> None:
    """What is sent next never arrives."""
    answer = line.answer

    def lose(data: bytes) -> None:
        line.answer = answer  # type: ignore[method-assign]

    line.answer = lose  # type: ignore[method-assign]


def test_frames_that_are_lost_together_halve_their_size_once(elf: Path) -> None:
    with damaged(elf, 0.0, 0) as (device, line):
        assert device.infer("tiny", [byte(1)]) == [2]
        link, sizes = device._link, []
        lost, link.piece_bytes = link.lost, 256
        link.lost = lambda piece: (lost(piece), sizes.append(link.piece_bytes))
        lose_next(line)
        device.write_input("mini", 0, X.tobytes())
        assert len(sizes) > 1 and {*sizes} == {128}


def test_what_is_sent_twice_says_nothing_of_the_time_that_answers_take(elf: Path) -> None:
    """It may be the first that is answered (RFC 6298, section 3): the PING between them does."""
    with damaged(elf, 0.0, 0) as (device, line):
        assert device.infer("tiny", [byte(1)]) == [2]
        wire, samples = device._link.wire, []
        wire.note_round_trip = samples.append
        lose_next(line)
        device._link.request(Type.DESCRIBE, b"\0\0")
        assert len(samples) == 1 and device.resent == 1


def test_no_more_is_on_its_way_than_the_device_has_room_for(elf: Path) -> None:
    def sent_at_once(window: int) -> int:
        """The bytes of pieces of 100 that are sent before an answer has come."""
        with damaged(elf, 0.0, 0) as (device, line):
            assert device.infer("tiny", [byte(1)]) == [2]
            device._link.window, device._link.piece_bytes = window, 100
            write, sizes = line.write, []
            line.write = lambda data: (write(data), sizes.append(len(data)))
            device.write_input("mini", 0, X.tobytes())
            return sizes[0]

    one = sent_at_once(1)
    assert [sent_at_once(2 * one + k) for k in (-1, 0)] == [one, 2 * one]


def test_a_tensor_of_any_size_arrives(elf: Path) -> None:
    """At 1 % a frame with 490 bytes gets through once in 180 times: it is cut, however much the
    line seemed to carry before."""
    reference = pack_tensor(0, TensorKind.INPUT, 0)
    for count in [*range(1, 40), *range(40, 1100, 15)]:
        with damaged(elf, 0.01, count) as (device, _line):
            link, data = device._link, X.tobytes()[-count:]
            link.transfer(
                Type.WRITE, count, lambda at, n, data=data: pack_write(reference, at, data[at:][:n])
            )
            parts = link.transfer(Type.READ, count, lambda at, n: pack_read(reference, at, n))
            assert b"".join(parts[at][8:] for at in sorted(parts)) == data


@pytest.mark.parametrize("rate", [0.01, 0.03])
def test_descriptions_and_results_arrive_in_parts(elf: Path, rate: float) -> None:
    """At 3 % a DESCRIBE and its reply get through whole once in forty times."""
    with damaged(elf, 0.0, 0) as (device, _line):
        models = device.models
    for seed in range(50):
        with damaged(elf, rate, seed) as (device, _line):
            assert device.models == models
            assert device.infer("tiny", [byte(seed)]) == [seed + 1]


def test_a_refusal_arrives_in_parts(elf: Path) -> None:
    for seed in range(10):
        refused = pytest.raises(ProtocolError, match="the firmware has fewer models")
        with damaged(elf, 0.03, seed) as (device, _line), refused:
            device._link.request(Type.DESCRIBE, b"\xff\xff")


def test_a_transfer_goes_on_where_it_broke(elf: Path) -> None:
    """At 0.1 % three of four frames of 250 bytes arrive: only the others are sent again."""
    with damaged(elf, 0.0, 0) as (device, line):
        device.write_input("mini", 0, X.tobytes())
        before = line.sent
        device.write_input("mini", 0, X.tobytes())
        clean = line.sent - before
        line.rate = 0.001
        for _ in range(10):
            device.write_input("mini", 0, X.tobytes())
        assert line.sent - before - clean < 10 * 2 * clean


def test_a_clean_line_carries_no_byte_more_than_the_frames_of_an_inference(elf: Path) -> None:
    """Four requests: WRITE, RUN, TENSOR_CRC, READ."""
    with damaged(elf, 0.0, 0) as (device, line):
        before = line.sent
        assert device.infer("tiny", [byte(1)]) == [2]
        encoded = [13 + 13, 13 + 14, 13 + 8, 13 + 14]
        assert line.sent - before == sum(encoded)
        assert device.resent == 0


def test_the_least_and_the_most_of_several_runs(elf: Path) -> None:
    with damaged(elf, 0.0, 0) as (device, _line):
        device.write_input("tiny", 0, b"\5")
        two = device.run("tiny", repeat=2)
        assert 0 < two.counter_least < two.counter_most
        assert two.counter_least + two.counter_most == two.counter_total


def test_a_layer_takes_what_it_takes_in_the_shortest_repetition(elf: Path) -> None:
    def layers(repeat: int) -> tuple[int, ...]:
        with damaged(elf, 0.0, 0) as (device, _line):
            return device.profile("mini", [X, Y], repeat=repeat).layers

    assert min(layers(1)) > 0 and layers(1) == layers(3)


@pytest.mark.parametrize(("delay", "latency"), [(2.0, 3.0), (8.0, 3.0), (100.0, 60.0)])
def test_a_slow_line_costs_time_and_nothing_else(elf: Path, delay: float, latency: float) -> None:
    """Each answer is held back; what is on its way is not sent again."""
    with damaged(elf, 0.0, 0) as (_, line):
        line.delay = delay
        device = device_on(line, latency=latency)
        assert device.infer("tiny", [byte(4)]) == [5]
        assert device.resent == 0


def test_a_line_slower_than_the_latency_allows_is_given_up(elf: Path) -> None:
    with damaged(elf, 0.0, 0) as (_, line):
        line.delay = 100.0
        with pytest.raises(DeviceError, match=r"No byte came .* give a longer --latency"):
            device_on(line, latency=3.0)


def test_slow_and_damaged_at_once(elf: Path) -> None:
    """A PING behind the last frame tells what was lost: a loss costs one round trip or two."""
    with damaged(elf, 0.01, 9) as (_, line):
        line.delay = 0.5
        device = device_on(line, latency=3.0)
        z, w = device.infer("mini", [X, Y])
        assert [z.tobytes(), w.tobytes()] == mini_layers(X)[2]


@pytest.mark.parametrize("seed", range(8))
def test_reset_under_damage(elf: Path, seed: int) -> None:
    with damaged(elf, 0.02, seed) as (device, _line):
        device.infer("parts", [byte(0)])
        device.reset()
        assert device.infer("parts", [byte(0)]) == [byte(101)]


def test_a_restart_of_which_nothing_is_heard_is_noticed(elf: Path) -> None:
    """Else a state would begin anew in silence."""
    with damaged(elf, 0.0, 0) as (device, line):
        device.infer("parts", [byte(0)])
        line.answer(encode_frame(Frame(Type.RESET, 999)))
        line.lose_all()
        with pytest.raises(DeviceRestarted, match="has restarted by itself"):
            device.infer("parts", [byte(0)])
        device.await_restart()
        assert device.infer("parts", [byte(0)]) == [byte(101)]


def test_a_restart_in_a_run_may_be_a_kernel_s(elf: Path) -> None:
    """What writes all over the RAM leaves no fault to be reported."""
    with damaged(elf, 0.0, 0) as (device, line):
        device.write_inputs("parts", [byte(0)])
        line.answer(encode_frame(Frame(Type.RESET, 999)))
        line.lose_all()
        with pytest.raises(DeviceRestarted, match=r"while it ran .*parts.* a kernel that writes"):
            device.run("parts")


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("name", "rate", "count", "a_session"),
    [
        ("mlperf_ad_int8", 0.01, 100, 100),
        ("mlperf_ad_int8", 0.01, 100, 1),
        ("mlperf_ad_int8", 0.001, 1000, 10),
        ("mlperf_kws_int8", 0.01, 300, 1),
        ("mlperf_kws_int8", 0.01, 300, 100),
        ("mlperf_kws_int8", 0.03, 50, 1),
    ],
)
def test_real_models(
    models_dir: Path, tmp_path: Path, name: str, rate: float, count: int, a_session: int
) -> None:
    """Every inference, with 640 bytes there and back and with 490 and 12."""
    from mcu_deploy import build

    model = models_dir / name
    folder = tmp_path / "net"
    build(model / "model.tflite", "host", folder, name="net")
    sources = [folder / "firmware_models.c", folder / "network_net.c", *runtime_sources()]
    elf = build_stepped_firmware(
        tmp_path / "net.elf", sources, f"-I{folder / 'include'}", f"-Wa,-I{folder}"
    )
    inputs = np.load(model / "io.npz")["in0"]
    with damaged(elf, 0.0, 0) as (device, _line):
        shape = device.models[0].inputs[0].shape
        wanted = [device.infer(0, [x.reshape(shape)])[0].tobytes() for x in inputs]
    for first in range(0, count, a_session):
        with damaged(elf, rate, first) as (device, _line):
            for number in range(first, first + a_session):
                sample = number % len(inputs)
                out = device.infer(0, [inputs[sample].reshape(shape)])[0]
                assert out.tobytes() == wanted[sample]
