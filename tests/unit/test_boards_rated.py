"""The rated clock of each board, computed from its registers as the steps leave them.

No emulator has these clocks: without a board, the arithmetic is all that can be checked."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import partial

from sampling import every_board

from mcu_deploy.boards import SetupStep, load_board

Read = Callable[[int, int, int], int]  # of a register, from a bit on, so many bits


def _stm32(clock: float, prescaler: int, bits: int = 3) -> float:
    """The clock behind HPRE and D1CPRE (4 bits) or PPRE (3): divided where the top bit is set."""
    top = 1 << bits - 1
    return clock / (2 << prescaler - top) if prescaler >= top else clock


def _buses(read: Read, pll: float, cfgr: int, ahb: int, *apb: int) -> tuple[float, ...]:
    core = _stm32(pll, read(cfgr, ahb, 4), 4)
    return core, *(_stm32(core, read(cfgr, low, 3)) for low in apb)


def _f1(read: Read) -> tuple[float, ...]:
    return _buses(read, 8e6 / 2 * (read(0x4002_1004, 18, 4) + 2), 0x4002_1004, 4, 11)


def _f4(read: Read) -> tuple[float, ...]:
    vco = 16e6 / read(0x4002_3804, 0, 6) * read(0x4002_3804, 6, 9)
    return _buses(read, vco / (2 * read(0x4002_3804, 16, 2) + 2), 0x4002_3808, 4, 10, 13)


def _g0_l4(read: Read, g0: bool = False) -> tuple[float, ...]:  # the L4R5 has 4 bits of PLLM
    vco = 16e6 / (read(0x4002_100C, 4, 3) + 1) * read(0x4002_100C, 8, 7)
    r = read(0x4002_100C, 29, 3) + 1 if g0 else 2 * read(0x4002_100C, 25, 2) + 2
    return _buses(read, vco / r, 0x4002_1008, *((8, 12) if g0 else (4, 8, 11)))


def _h7(read: Read) -> tuple[float, ...]:
    vco = 64e6 / read(0x5802_4428, 4, 6) * (read(0x5802_4430, 0, 9) + 1)
    core = _stm32(vco / (read(0x5802_4430, 9, 7) + 1), read(0x5802_4418, 8, 4), 4)
    bus = _stm32(core, read(0x5802_4418, 0, 4), 4)
    return core, _stm32(bus, read(0x5802_441C, 4, 3)), _stm32(bus, read(0x5802_441C, 8, 3))


def _u5(read: Read) -> tuple[float, ...]:
    vco = 16e6 / (read(0x4602_0C28, 8, 4) + 1) * (read(0x4602_0C34, 0, 9) + 1)
    return _buses(read, vco / (read(0x4602_0C34, 24, 7) + 1), 0x4602_0C20, 0, 8)


def _rp(read: Read, pll: int) -> tuple[float, ...]:  # the port is at the crystal
    vco = 12e6 / read(pll, 0, 6) * read(pll + 0x8, 0, 12)
    return vco / read(pll + 0xC, 16, 3) / read(pll + 0xC, 12, 3), 12e6


def _same70(read: Read) -> tuple[float, ...]:
    pll = 12e6 * (read(0x400E_0628, 16, 11) + 1) / read(0x400E_0628, 0, 8)
    assert read(0x400E_0630, 0, 2) == 2 and read(0x400E_0630, 4, 3) == 0
    return pll, pll / (1, 2, 4, 3)[read(0x400E_0630, 8, 2)]


_F4 = ["netduinoplus2", "stm32f407", "nucleo_f446re", "stm32f746", "nucleo_f746zg"]
_BOARDS = dict.fromkeys(_F4, _f4) | {"stm32f103": _f1, "stm32vldiscovery": _f1}
_BOARDS |= dict.fromkeys(["nucleo_l476rg", "nucleo_l4r5zi", "nucleo_l552ze"], _g0_l4)
_BOARDS |= {"nucleo_g0b1re": partial(_g0_l4, g0=True), "nucleo_h753zi": _h7}
_BOARDS |= {"nucleo_u575zi": _u5, "b_u585i_iot02a": _u5}
_BOARDS |= {"sam_e70_xplained": _same70}
_BOARDS |= {"rpi_pico": partial(_rp, pll=0x4002_8000), "rpi_pico2": partial(_rp, pll=0x4005_0000)}


def _after(steps: Iterable[SetupStep]) -> Read:
    """Registers start as all ones, so that a field that a step forgets to clear shows."""
    registers = defaultdict[int, int](lambda: 0xFFFF_FFFF)
    for step in (step for step in steps if step.kind != "wait"):
        kept = registers[step.register] & ~step.mask if step.kind == "change" else 0
        registers[step.register] = kept | step.value
    return lambda register, low, bits: registers[register] >> low & (1 << bits) - 1


def test_the_steps_make_the_rated_clock() -> None:
    rated = {board.name for board in every_board() if board.rated_clock_hz}
    assert rated - {*_BOARDS} == {"nrf52840dk", "microbit"}  # whose crystals need no PLL
    for name, clocks in _BOARDS.items():
        board = load_board(name, clock="rated")
        core, *ports = clocks(_after(board.setup))
        assert (core, {*ports}) == (board.clock_hz, {board.serial.clock_hz}), name
