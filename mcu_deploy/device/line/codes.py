"""The numbers of the serial protocol (docs/protocol.md, 3 to 5)."""

from __future__ import annotations

import enum


class Type(enum.IntEnum):
    """Types of requests (a reply's is the request's + 0x80) and of events."""

    HELLO = 0x01
    PING = 0x02
    ECHO = 0x03
    DESCRIBE = 0x04
    DESCRIBE_TENSOR = 0x05
    WRITE = 0x06
    READ = 0x07
    TENSOR_CRC = 0x08
    RUN = 0x09
    SELF_TEST = 0x0A
    RESET = 0x0B
    PROVOKE = 0x0C
    DESCRIBE_PARTITION = 0x0D
    RESET_STATE = 0x0E
    READ_REPLY = 0x0F
    RESIZE = 0x10
    LOG = 0x40
    FAULT = 0x41
    BUSY = 0x42
    LAYER_CRC = 0x43
    LAYER_TIME = 0x44
    READY = 0x45
    ERROR = 0xFF


REPLY = 0x80


class Code(enum.IntEnum):
    """What an ERROR reply is about."""

    BAD_VERSION = 1
    UNKNOWN_TYPE = 2
    BAD_LENGTH = 3
    NO_SUCH_MODEL = 4
    NO_SUCH_TENSOR = 5
    OUT_OF_RANGE = 6
    BAD_VALUE = 7
    NO_SUCH_LAYER = 8
    INPUT_CRC = 9
    RUN_FAILED = 10
    NOT_THERE = 11
    NO_SUCH_PARTITION = 12
    NOT_GREETED = 13
    BAD_SIZE = 14


class Capability(enum.IntFlag):
    """What a firmware can do."""

    LAYER_CRC = 1
    LAYER_TIME = 2
    STOP_AFTER = 4
    SELF_TEST = 8
    TEST_COMMANDS = 16
    FAULT_FRAMES = 32
    READ_REPLY = 64
    RESIZE = 128


class CounterKind(enum.IntEnum):
    """What the device's counter counts."""

    NONE = 0
    CYCLES = 1
    NANOSECONDS = 2
    TICKS = 3


class TensorKind(enum.IntEnum):
    """Which of a model's tensors a reference means."""

    INPUT = 0
    OUTPUT = 1
    LAYER = 2
    KEPT = 3
    STATE = 4
    PARTITION_INPUT = 5
    PARTITION_OUTPUT = 6


class RunFlag(enum.IntFlag):
    """Options of a RUN."""

    LAYER_CRC = 1
    LAYER_TIME = 2
    STOP_AFTER = 4
    BARE = 8


class Provoke(enum.IntEnum):
    """Faults that the test commands cause."""

    LOG = 0
    UNDEFINED_INSTRUCTION = 1
    BAD_READ = 2
    BAD_WRITE = 3
    BAD_JUMP = 4
    UNALIGNED = 5
    DIVIDE_BY_ZERO = 6
    STACK_OVERFLOW = 7
    INVALID_STATE = 8
    ENDLESS = 9
    """A loop without an end; in a layer only."""


def name_of_request(kind: int) -> str:
    """Its name in docs/protocol.md, or its number."""
    return _name(Type, kind)


def name_of_error(code: int) -> str:
    """As `name_of_request`, of what an ERROR reply is about."""
    return _name(Code, code)


def _name(kind: type[enum.IntEnum], value: int) -> str:
    try:
        return kind(value).name
    except ValueError:
        return f"number {value}"
