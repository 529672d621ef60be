"""Windows of two pixels in a patch of the scratch: padding, and what of the image is inside."""

from __future__ import annotations

from mcu_deploy.backends.isa import Assembly, Kind, Register
from mcu_deploy.backends.isa.mve.tiles import add_to
from mcu_deploy.backends.quantized.vector_patches import Patches
from mcu_deploy.backends.quantized.vector_product import VECTOR


class Patch:
    """frame: what the patch is `at` bytes behind. It is filled where outputs are written too, so
    that all registers that point to it are of no region, which keeps the order."""

    def __init__(self, code: Assembly, patches: Patches, frame: Register, at: int) -> None:
        self._code, self._patches, self._frame, self._at = code, patches, frame, at
        self._vectors = code.registers("padding copied", kind=Kind.VECTOR)

    def fill(
        self, window: Register, column: Register, row: Register, zero: Register, pitch: Register
    ) -> None:
        """window: where the first pixel's window begins, or would; behind it where it does in the
        patch. column, in bytes, and row: where that is in the image; zero: the input's zero point;
        all three are lost. pitch: bytes from a row of a window to the next, likewise."""
        code, patches, filling = self._code, self._patches, self._patches.filling
        padding, copied = self._vectors
        to, size = code.registers("patch bytes")
        nothing = code.label()
        code.vdup_8(padding, zero)
        add_to(code, to, self._frame, self._at)
        code.number(size, patches.patch_bytes)
        with code.counted(-(-patches.patch_bytes // VECTOR), size, 8):
            code.vstrb_8(padding, to.after(VECTOR))
        # Bytes of a row that are outside in front of the image, and inside.
        outside, most = code.registers("outside most")
        code.rsb(outside, column, 0)
        code.bic(outside, outside, outside.asr(31))
        code.number(size, patches.row_bytes)
        code.sub(size, size, column)
        code.number(most, patches.patch_pitch)
        code.cmp(size, most)
        code.it("gt")
        code.movgt(size, most)
        code.subs(size, size, outside)
        code.ble(nothing)
        with code.times(filling.touching / max(1, filling.patched)):
            code.add(window, window, outside)
            add_to(code, to, self._frame, self._at)
            code.add(to, to, outside)
            self._rows(window, to, row, size, pitch, copied)
        code.place(nothing)
        code.number(pitch, patches.patch_pitch)
        add_to(code, window, self._frame, self._at)

    def _rows(
        self, source: Register, to: Register, row: Register, size: Register, pitch: Register,
        copied: Register,
    ) -> None:  # fmt: skip
        """Those of the image that a window has."""
        code, patches, filling = self._code, self._patches, self._patches.filling
        window = patches.layer.window
        left, height, from_, into = code.registers("rows_left height from into")
        code.mov(left, window.kernel[0])
        with code.repeat(window.kernel[0]):
            above = code.label()
            code.number(height, window.input[0])
            code.cmp(row, height)
            code.bhs(above)
            with code.times(filling.rows / window.kernel[0]):
                code.mov(from_, source)
                code.mov(into, to)
                with code.counted(max(1.0, filling.row_bytes / VECTOR), size, 8):
                    code.vldrb_u8(copied, from_.after(VECTOR))
                    code.vstrb_8(copied, into.after(VECTOR))
            code.place(above)
            code.add(source, source, pitch)
            code.offset(to, patches.patch_pitch, height)
            code.add(row, row, window.dilations[0])
            code.subs(left, left, 1)
