"""What the tests of the protocol share: the firmware for the host, and bad lines."""

from __future__ import annotations

import contextlib
import random
import select
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mcu_deploy import resources
from mcu_deploy.boards import load_board, platform_defines, startup_sources

NETWORKS = Path(__file__).parents[1] / "crt" / "protocol" / "firmware_models.c"

MODELS = ["mini", "tiny", "failing", "slow", "parts", "sized"]
LONG_NAME = "0123456789abcdef" * 4  # a byte more than is told of a name

X = np.random.default_rng(1).integers(-128, 128, (1, 3000), np.int8)
Y = np.array([1.5, -2.0, 0.0, 3e38], np.float32)


def mini_layers(x: NDArray[np.int8]) -> list[list[bytes]]:
    """What each layer of the network "mini" puts out."""
    t = (x.view(np.uint8) + np.uint8(1)).view(np.int8)
    reverse = np.ascontiguousarray(t[:, ::-1])
    total = np.int32(t.astype(np.int32).sum())
    with np.errstate(over="ignore"):
        w = Y * np.float32(2)
    z = reverse ^ np.int8(0x55)
    return [[t.tobytes()], [reverse.tobytes(), total.tobytes()], [z.tobytes(), w.tobytes()]]


def build_host_firmware(folder: Path, *flags: str) -> Path:
    """The firmware for the host with the hand-written networks."""
    board = load_board("host")
    crt = resources.crt()
    runtime = [
        crt / "src" / name
        for name in ("runtime.c", "instance.c", "tensor.c", "error.c", "resize.c")
    ]
    firmware = [path for path in (crt / "firmware").glob("*.c") if "bench" not in path.name]
    elf = folder / "firmware.elf"
    command = [
        *("gcc", "-std=c99", "-g", "-O0", *board.cflags, *platform_defines(board), *flags),
        *(f"-I{crt / 'include'}", f"-I{resources.boards() / 'common'}"),
        *startup_sources(board),
        *sorted(firmware),
        *runtime,
        *(NETWORKS, "-o", elf),
    ]
    subprocess.run(command, check=True)
    return elf


@contextlib.contextmanager
def running(elf: Path, stderr: Path) -> Iterator[str]:
    """The URL of a running host firmware; fails where a sanitizer has stopped it."""
    with stderr.open("w") as errors:
        process = subprocess.Popen(
            [elf, "--port", "0"], stdout=subprocess.PIPE, stderr=errors, text=True
        )
    try:
        assert process.stdout is not None
        yield f"socket://127.0.0.1:{process.stdout.readline().split()[1]}"
        assert process.poll() is None, stderr.read_text()
    finally:
        process.kill()
        process.communicate()
    said = stderr.read_text()
    assert "ERROR: AddressSanitizer" not in said and "runtime error" not in said, said


@contextlib.contextmanager
def server(serve: Callable[[socket.socket, threading.Event], None]) -> Iterator[str]:
    """A URL where `serve` talks to one client until its event is set."""
    stop = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def work() -> None:
            client, _ = listener.accept()
            with client, contextlib.suppress(OSError):
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                serve(client, stop)

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        try:
            yield f"socket://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            stop.set()
            thread.join(5)


@contextlib.contextmanager
def noisy_line(url: str, seed: int, rate: float) -> Iterator[str]:
    """A line to `url` that loses, changes and inserts single bytes, each byte at `rate`."""
    rng = random.Random(seed)
    host, port = url.removeprefix("socket://").split(":")

    def spoil(data: bytes) -> bytes:
        out = bytearray()
        for byte in data:
            if rng.random() >= rate:
                out.append(byte)
            else:
                out += rng.choice([b"", bytes([rng.randrange(256)]), bytes([byte, 0])])
        return bytes(out)

    def serve(client: socket.socket, stop: threading.Event) -> None:
        with socket.create_connection((host, int(port))) as device:
            device.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while not stop.is_set():
                ready, _, _ = select.select([client, device], [], [], 0.05)
                for end, other in ((client, device), (device, client)):
                    if end in ready:
                        data = end.recv(4096)
                        if not data:
                            return
                        other.sendall(spoil(data))

    with server(serve) as noisy:
        yield noisy
