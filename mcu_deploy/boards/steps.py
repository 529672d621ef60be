"""Steps of a chip's start-up as data: writes to registers, and waits for their bits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mcu_deploy.boards.model import SetupStep
from mcu_deploy.boards.reader import BoardTable

_WIDTHS = (8, 16, 32)


def read_steps(tables: Iterable[BoardTable]) -> tuple[SetupStep, ...]:
    """The steps of a list such as `setup`. BoardError for one that says two things, or none."""
    return tuple(map(_step, tables))


def _step(table: BoardTable) -> SetupStep:
    bits = table.integer("bits", 8, 33, 32)
    if bits not in _WIDTHS:
        table.fail(f"bits = {bits} is no width of a register; it is 8, 16 or 32")
    register = table.address("register", bits // 8)
    named = tuple(key for key in ("clear", "set", "value", "mask", "equals") if table.has(key))
    numbers = {key: table.integer(key, 0, 1 << bits) for key in named}
    if named == ("value",):
        return SetupStep("write", register, (1 << bits) - 1, numbers["value"], bits)
    if named == ("mask", "equals"):
        if numbers["equals"] & ~numbers["mask"]:
            table.fail("equals has bits that mask has not: the wait would not end")
        return SetupStep("wait", register, numbers["mask"], numbers["equals"], bits)
    if named and set(named) <= {"clear", "set"}:
        set_bits = numbers.get("set", 0)
        return SetupStep("change", register, numbers.get("clear", 0) | set_bits, set_bits, bits)
    return table.fail(
        "a step is a register with set or clear or both, with value, or with mask and equals; "
        f"this one has {', '.join(named) or 'none of them'}"
    )


def pin_steps(tables: Iterable[BoardTable]) -> Iterator[SetupStep]:
    """What hands pins over to a peripheral on STM32 (other than F1): alternate function, a pull-up,
    so that an open line rests, and the mode "alternate function".

    Registers: GPIO_TypeDef in ST's CMSIS device headers stm32f405xx.h and stm32f746xx.h."""
    for table in tables:
        port, pin = table.address("port", 4), table.integer("pin", 0, 16)
        function = table.integer("function", 0, 16)
        shift, two = pin % 8 * 4, 3 << pin * 2
        yield SetupStep(
            "change", port + 0x20 + pin // 8 * 4, 0xF << shift, function << shift
        )  # AFR
        yield SetupStep("change", port + 0x0C, two, 1 << pin * 2)  # PUPDR
        yield SetupStep("change", port, two, 2 << pin * 2)  # MODER
