"""Sigmoid and tanh of 16 bits as TFLite has them: straight lines between the entries of its table.

tanh has its last value from entry 255 on: a further one like it, and magnitudes of 16 bits, take
the place of a branch.
"""

from __future__ import annotations

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.isa import Assembly, Register
from mcu_deploy.operators.tflite_lstm import Factor, sigmoid_table

TABLE_BYTES = 4 * 129


def table() -> Array:
    """As the code reads it, in words."""
    entries = np.zeros(TABLE_BYTES // 2, np.uint16)
    entries[:256] = sigmoid_table()
    entries[256] = entries[255]
    return entries.view(np.uint32)


class LineRegisters:
    """The registers of a straight line between two entries of the table: the place with its sign
    and without, the entry before it and how far the next one is, the value there."""

    def __init__(self, code: Assembly) -> None:
        self.table, self.place, self.size = code.registers("table place size")
        self.entry, self.first, self.rise = code.registers("entry first rise")
        self.value = code.register("value")


def _line_at(code: Assembly, line: LineRegisters, bits: int) -> None:
    """The value at a place of this size, which is `bits` finer than the table's entries: on the
    straight line between two of them."""
    code.lsr(line.entry, line.size, bits)
    code.add(line.entry, line.table, line.entry.lsl(1))
    code.ldrh(line.first, line.entry[0])
    code.ldrh(line.rise, line.entry[2])
    code.ubfx(line.value, line.size, 0, bits)
    code.sub(line.rise, line.rise, line.first)
    code.mul(line.value, line.value, line.rise)
    code.add(line.value, line.value, line.first.lsl(bits))


def _magnitude(code: Assembly, line: LineRegisters) -> None:
    code.eor(line.size, line.place, line.place.asr(31))
    code.sub(line.size, line.size, line.place.asr(31))


def _signed(code: Assembly, line: LineRegisters, into: Register, bits: int, by: int) -> None:
    """What of the value, whose table's entries have `bits` more, is above a half, with the sign of
    the place, and rounded to `by` bits less."""
    code.sub(line.value, line.value, 1 << bits + 15)
    code.eor(line.value, line.value, line.place.asr(31))
    code.add(line.value, line.value, 1 << by - 1)
    code.asr(into, line.value, by)


def sigmoid(code: Assembly, line: LineRegisters, value: Register) -> None:
    """Steps of 2**-12 to steps of 2**-15. sigmoid(-v) is 1 - sigmoid(v): half is taken away, what
    is left has the sign, and half is added."""
    code.add(line.place, value, value.lsl(1))
    _magnitude(code, line)
    _line_at(code, line, 9)
    _signed(code, line, line.value, 9, 10)
    code.add(value, line.value, 1 << 14)


def tanh(
    code: Assembly, line: LineRegisters, into: Register, value: Register, factor: Factor
) -> None:
    """Steps to steps of 2**-15, for the factor of `QuantizedLstm.tanh`: 2 sigmoid(2 v) - 1."""
    multiplier, shift = factor
    by = (multiplier // 3).bit_length() - 1
    code.add(line.place, value, value.lsl(1))
    if by:
        code.lsl(line.place, line.place, by)
    if shift:
        code.add(line.place, line.place, 1 << shift >> 1)
        code.asr(line.place, line.place, shift)
    _magnitude(code, line)
    code.usat(line.size, 16, line.size)
    _line_at(code, line, 8)
    _signed(code, line, into, 8, 8)
