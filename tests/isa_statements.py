"""Statements that the interpreter of kernels is held to QEMU by: each row of its meanings, in the
forms that kernels have of it.

r12 is an address of data that is a multiple of 4, r9 one that is any, r11 an index; the other
registers hold anything.
"""

from __future__ import annotations

from mcu_deploy.backends.isa import Assembly
from mcu_deploy.backends.isa.instruction import parsed

_PLAIN = """
mov r0, r1|mov r0, #200|mov r0, r1, lsl #3|mov r0, r1, asr #7|movs r0, r1|movs r2, #0|mvn r0, r1
mvn r3, #5|mvns r0, r1|movw r0, #54321|movt r0, #1234
add r0, r1, r2|add r0, r1, #255|add r0, r1, r2, lsl #4|add r0, r1, r2, asr #31
add r0, r0, r1, lsr #3|adds r0, r1, r2|adds r0, r1, #7|sub r0, r1, r2
sub r0, r1, #4095|sub r0, r1, r2, asr #5|sub r0, r1, r2, lsr #23|subs r0, r1, r2
subs r0, r0, #1|rsb r0, r1, #0|rsb r0, r1, r2, lsl #8
rsbs r0, r1, #17|adc r0, r1, r2|addw r0, r1, #4000|subw r0, r1, #4001
and r0, r1, r2|and r0, r1, r2, lsl #5|ands r0, r1, r2|ands r0, r1, #15|orr r0, r1, #128
orr r0, r1, r2, lsl #16|orrs r0, r1, r2|eor r0, r1, r2|eor r0, r1, r2, asr #31|eors r0, r0, r2
bic r0, r1, #127|bic r0, r1, r2, asr #31|bics r0, r1, r2|mul r0, r1, r2|muls r0, r1, r0
lsl r0, r1, #5|lsl r0, r1, r2|lsls r0, r1, #1|lsls r0, r1, r11|lsr r0, r1, #9|lsr r0, r1, r2
lsrs r0, r1, #4|lsrs r0, r1, r11|asr r0, r1, #31|asr r0, r1, r2|asrs r0, r1, #16|asrs r0, r1, r11
asrs r0, r1, r2|lsls r0, r1, r2|lsrs r0, r1, r2|ror r0, r1, #8|ror r0, r1, r2
cmp r0, r1|cmp r0, #0|cmp r0, r0|cmn r0, r1|tst r0, r1|tst r0, #15|clz r0, r1|rbit r0, r1|rev r0, r1
neg r0, r1|udiv r0, r1, r2|udiv r0, r1, r11
sdiv r0, r1, r2|sdiv r0, r1, r11|bfc r0, #0, #16|bfc r0, #8, #8|sxtah r0, r1, r2
sxtah r0, r1, r2, ror #8
uxtah r0, r1, r2
uxtab r0, r1, r2|uxtab r0, r1, r2, ror #24|bfi r0, r1, #8, #8|bfi r0, r1, #0, #31
ubfx r0, r1, #7, #1|ubfx r0, r1, #3, #20|sbfx r0, r1, #5, #9
sxtb r0, r1|sxth r0, r1|uxtb r0, r1|uxth r0, r1|sxtb r0, r1, ror #16|sxtab r0, r1, r2
sxtab r0, r1, r2, ror #8|sxtb16 r0, r1|sxtb16 r0, r1, ror #8|uxtb16 r0, r1|uxtb16 r0, r1, ror #8
sxtab16 r0, r1, r2|sxtab16 r0, r1, r2, ror #8|uxtab16 r0, r1, r2|uxtab16 r0, r1, r2, ror #8
pkhbt r0, r1, r2|pkhbt r0, r1, r2, lsl #16|pkhtb r0, r1, r2, asr #16|pkhtb r0, r1, r2, asr #3
mla r0, r1, r2, r3|mls r0, r1, r2, r3|smlad r0, r1, r2, r3|smlad r0, r0, r1, r0|smuad r0, r1, r2
smlabb r0, r1, r2, r3|smlabt r0, r1, r2, r3|smlatb r0, r1, r2, r3|smlatt r0, r1, r2, r3
smulbb r0, r1, r2|smulbt r0, r1, r2|smultb r0, r1, r2|smultt r0, r1, r2|smlawb r0, r1, r2, r3
smlawt r0, r1, r2, r3|smulwb r0, r1, r2|smulwt r0, r1, r2|smmul r0, r1, r2|smmulr r0, r1, r2
smmla r0, r1, r2, r3|smmlar r0, r1, r2, r3|umull r0, r1, r2, r3|smull r0, r1, r2, r3
umull r2, r3, r2, r3|umlal r0, r1, r2, r3|smlal r0, r1, r2, r3
qadd r0, r1, r2|qsub r0, r1, r2|ssat r0, #8, r1|ssat r0, #8, r1, asr #4|ssat r0, #32, r1
ssat r0, #16, r1, lsl #5|usat r0, #8, r1|usat r0, #0, r1|usat r0, #8, r1, asr #12|usat16 r0, #8, r1
ssat16 r0, #8, r1|ssub16 r0, r0, r0|sel r0, r1, r2|nop
"""

# Sums and differences of halves and bytes.
_PARALLEL = "|".join(
    f"{how}{what} r0, r1, r2"
    for how in ("s", "u", "q", "uq", "sh", "uh")
    for what in ("add8", "sub8", "add16", "sub16", "asx", "sax")
)

_MEMORY = """
ldr r0, [r12]|ldr r0, [r9, #3]|ldr r0, [r12, #-8]|ldr r0, [r12, r11]|ldr r0, [r12, r11, lsl #2]
ldr r0, [r9], #4|ldr r0, [r12, #8]!|ldr r12, [r12]|str r0, [r12]|str r0, [r9, #5]|str r0, [r12, r11]
str r0, [r12], #4|str r0, [r12, #-4]!|ldrb r0, [r9, #1]|ldrb r0, [r12, r11]|ldrb r0, [r9], #1
strb r0, [r9, #2]|strb r0, [r12, r11]|strb r0, [r9], #1|ldrh r0, [r9]|ldrh r0, [r9], #2
ldrh r0, [r12, r11]|strh r0, [r9, #2]|strh r0, [r12, r11]|strh r0, [r9], #2|ldrsb r0, [r9]
ldrsb r0, [r9], #1|ldrsh r0, [r9, #2]|ldrd r0, r1, [r12, #4]|ldrd r3, r2, [r12]|strd r0, r1, [r12]
strd r3, r2, [r12], #8|strd r5, r4, [r12, #-8]|ldmia r12, {r0-r3}|ldmia r12!, {r1, r4-r6, lr}
ldmia r12, {r0, r12}|ldmdb r12!, {r3, r4}|ldmdb r12, {r3-r5}|stmia r12, {r0, r3}
stmia r12!, {r0-r5, lr}|stmdb r12!, {r0, r1}|vldr s4, [r12, #4]|vstr s4, [r12]|vldr s3, [r12, #-4]
vldmia r12!, {s4-s7}|vldmia r12, {d3-d4}|vstmia r12!, {s8-s10}|vstmia r12, {d1-d2}
"""

_FLOATS = """
vadd.f32 s0, s1, s2|vsub.f32 s0, s1, s2|vmul.f32 s0, s1, s2|vdiv.f32 s0, s1, s2|vsqrt.f32 s0, s1
vfma.f32 s0, s1, s2|vfms.f32 s0, s1, s2|vcvt.f32.s32 s0, s1|vcvt.f32.u32 s0, s1
vcvtr.s32.f32 s0, s1|vcvt.u32.f32 s0, s0, #16|vcvt.s16.f32 s0, s0, #1
vmov s0, r0|vmov r0, s1|vmov s0, s9
vmov d3, r0, r1|vmov r0, r1, d4|vmov s2, s3, r0, r1|vmov r0, r1, s4, s5
"""

_CONDITIONS = ("eq", "ne", "cs", "cc", "hs", "lo", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt",
               "gt", "le")  # fmt: skip
# Several instructions: what goes elsewhere, and what runs by a condition.
_PARTS = (
    *(f"cmp r0, r1; it {c}; mov{c} r2, r3"
      for c in _CONDITIONS),
    "it eq; addeq r0, r1, #4", "it ne; strne r0, [r12]", "it mi; ldrmi r0, [r12], #4",
    "itt eq; moveq r0, r1; moveq r1, r2", "ite ne; movne r0, r1; moveq r0, r2",
    "itttt eq; moveq r0, r1; moveq r1, r2; moveq r2, r3; moveq r3, r0",
    "itte lo; movlo r0, r1; movlo r1, r0; movhs r3, r4",
    "b 1f; mov r0, #1; 1: add r0, r0, #2", "beq 1f; mov r0, #1; 1: add r0, r0, #2",
    "cbz r1, 1f; mov r0, #1; 1: add r0, r0, #2", "cbnz r1, 1f; mov r0, #1; 1: add r0, r0, #2",
    "mov r1, #5; 1: add r0, r0, r1; subs r1, r1, #1; bne 1b",
    "b 2f; 1: add r0, r0, #1; bx lr; 2: bl 1b; add r0, r0, #2",
    ".balign 4; adr r1, 1f; orr r1, r1, #1; bx r1; mov r0, #1; .balign 4; 1: add r0, r0, #2",
    "push {r1-r3, lr}; ldrd r7, r8, [sp, #8]; pop {r4-r6, lr}", "push {r1}; pop {r2}",
    "vpush {d8-d9}; vldr s2, [sp, #4]; vpop {d4-d5}",
    "vcmp.f32 s1, s2; vmrs APSR_nzcv, fpscr", "vcmp.f32 s1, s1; vmrs APSR_nzcv, fpscr",
)  # fmt: skip


def _split(text: str) -> tuple[str, ...]:
    return tuple(s.strip() for line in text.strip().splitlines() for s in line.split("|"))


STATEMENTS: tuple[str, ...] = (
    *_split(_PLAIN), *_split(_PARALLEL), *_split(_MEMORY), *_split(_FLOATS), *_PARTS
)  # fmt: skip


def written(code: Assembly, *statements: str) -> None:
    """Adds statements as assemblers have them, whose registers are the core's."""
    for statement in statements:
        code.add_instruction(parsed(statement))
