"""The stack bound on programs whose frames are known, and on those that have no bound."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sampling import first
from toolchain_programs import link_program

from mcu_deploy.elf.disassembly import Disassembled
from mcu_deploy.errors import ToolError
from mcu_deploy.toolchain.stack.bound import StackAnalysis, StackBound, StackError
from mcu_deploy.toolchain.stack.callgraph import read_callgraphs
from mcu_deploy.toolchain.stack.effects import UnknownEffect, flow, stack_effect
from mcu_deploy.toolchain.stack.host import host_stack_bound
from mcu_deploy.toolchain.stack.image import read_image
from mcu_deploy.toolchain.stack.switches import targets

pytestmark = pytest.mark.needs_arm_gcc

M4 = ("-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard")
M3 = ("-mcpu=cortex-m3",)
CORES = {
    "m3": M3,
    "m4": M4,
    "m7": ("-mcpu=cortex-m7", "-mfpu=fpv5-d16", "-mfloat-abi=hard"),
    "m33": ("-mcpu=cortex-m33", "-mfpu=fpv5-sp-d16", "-mfloat-abi=hard"),
    "m55": ("-mcpu=cortex-m55", "-mfpu=auto", "-mfloat-abi=hard"),
}
NOINLINE = "#define FAR __attribute__((noinline, noclone))\n"


def stack_bound(elf: Path, entry: str, **options: Any) -> StackBound:
    return StackAnalysis(read_image(elf), **options).bound(entry)


def bound(folder: Path, source: str, flags: tuple[str, ...] = M4, **options: object) -> StackBound:
    elf = link_program(folder, NOINLINE + source, *flags)
    return stack_bound(elf, "entry", callgraphs=[elf.with_suffix(".ci")], **options)


def test_frames_add_up_along_the_deepest_path(tmp_path: Path) -> None:
    found = bound(
        tmp_path,
        "static FAR int deep(int x) { volatile int a[10]; a[x] = x; return a[x / 2]; }\n"
        "static FAR int shallow(int x) { volatile int a[2]; a[x] = x; return a[x / 2]; }\n"
        "int entry(int x) { volatile int a[4]; a[x] = deep(x); return a[0] + shallow(x); }\n",
    )
    # deep: 10 words; entry: 4 words, LR and the registers that this gcc saves, rounded up to 8
    assert dict(found.path)["deep"] == 40
    assert dict(found.path)["entry"] in (24, 32)
    assert found.bytes == sum(dict(found.path).values())
    assert [name for name, _ in found.path] == ["entry", "deep"]


def test_a_tail_call_has_given_its_frame_back(tmp_path: Path) -> None:
    found = bound(
        tmp_path,
        "static FAR int last(int x) { volatile int a[8]; a[x] = x; return a[x / 2]; }\n"
        "int entry(int x) { volatile int a[20]; a[x] = x; return last(a[x / 2]); }\n",
    )
    assert found == StackBound("entry", (("entry", 80),))


def test_a_variadic_function_counts_the_registers_it_saves(tmp_path: Path) -> None:
    source = (
        "#include <stdarg.h>\n"
        "FAR int sum(int n, ...) { va_list v; va_start(v, n); int s = 0;\n"
        "  while (n--) s += va_arg(v, int); va_end(v); return s; }\n"
        "int entry(int x) { return sum(3, x, x, x); }\n"
    )
    elf = link_program(tmp_path, NOINLINE + source, *M4)
    graph = elf.with_suffix(".ci")
    said = {item.name: item.frame for item in read_callgraphs([graph])}
    analysis = StackAnalysis(read_image(elf), callgraphs=[graph])
    assert said["sum"] == 8  # what gcc says: without the four registers
    assert analysis.frame("sum") == 24


def test_recursion_is_refused_and_the_circle_named(tmp_path: Path) -> None:
    with pytest.raises(StackError, match="in a circle: odd -> even -> odd; replace"):
        bound(
            tmp_path,
            "int odd(int);\n"
            "FAR int even(int x) { volatile int a = x; return x ? odd(x - 1) + a : 1; }\n"
            "FAR int odd(int x) { volatile int a = x; return x ? even(x - 1) + a : 0; }\n"
            "int entry(int x) { return odd(x) + 1; }\n",
        )


@pytest.mark.parametrize(
    "body",
    [
        "char *a = __builtin_alloca(x); a[0] = x; use(a);",
        "char a[x]; a[0] = x; use(a);",
    ],
)
def test_memory_of_variable_size_is_refused(tmp_path: Path, body: str) -> None:
    with pytest.raises(StackError, match="entry takes memory from it by alloca"):
        bound(
            tmp_path,
            "FAR void use(volatile char *a) { a[0]++; }\n"
            f"int entry(int x) {{ {body} return x; }}\n",
        )


POINTERS = """
static FAR int small(int x) { volatile int a[2]; a[x] = x; return a[x / 2]; }
static FAR int large(int x) { volatile int a[50]; a[x] = x; return a[x / 2]; }
int (*volatile pointer)(int) = small;
void *volatile other = large;
int entry(int x) { return pointer(x) + 1; }
"""


def test_a_pointer_reaches_what_the_caller_says(tmp_path: Path) -> None:
    with pytest.raises(StackError, match=r"entry calls through a pointer.*name them"):
        bound(tmp_path, POINTERS)
    assert bound(tmp_path, POINTERS, indirect={"entry": ()}).bytes == 8
    assert bound(tmp_path, POINTERS, indirect={"entry": ("small",)}).bytes == 16
    both = bound(tmp_path, POINTERS, indirect={"entry": ("small", "large")})
    assert both.path == (("entry", 8), ("large", 200))
    with pytest.raises(StackError, match=r"nowhere, called by entry, is not in program\.elf"):
        bound(tmp_path, POINTERS, indirect={"entry": ("nowhere",)})


def test_a_jump_through_a_pointer_is_a_call(tmp_path: Path) -> None:
    source = POINTERS.replace("pointer(x) + 1", "pointer(x)")
    with pytest.raises(StackError, match="calls through a pointer"):
        bound(tmp_path, source)
    assert bound(tmp_path, source, indirect={"entry": ("large",)}).bytes == 200


def test_a_copy_of_a_function_goes_by_the_functions_name(tmp_path: Path) -> None:
    source = (
        "static __attribute__((noinline)) int run(int x, int y, int (*f)(int)) {\n"
        "  volatile int a[4]; a[x] = y; return f(a[x / 2]) + y; }\n"
        "static FAR int leaf(int x) { volatile int a[2]; a[x] = x; return a[x / 2]; }\n"
        "int (*volatile pointer)(int) = leaf;\n"
        "int entry(int x) { return run(x, 3, pointer) + run(x + 1, 3, pointer); }\n"
    )
    found = bound(tmp_path, source, indirect={"run": ("leaf",)})
    assert [name.partition(".")[0] for name, _ in found.path] == ["entry", "run", "leaf"]
    assert found.path[1][0] != "run"  # gcc made a copy for y = 3


def test_what_comes_behind_a_switch_is_followed(tmp_path: Path) -> None:
    cases = "".join(f"case {n}: return f{n}(x);\n" for n in range(8))
    functions = "".join(
        f"static FAR int f{n}(int x) {{ volatile int a[{4 * n + 2}]; a[x] = x; return a[0]; }}\n"
        for n in range(8)
    )
    found = bound(
        tmp_path,
        functions
        + f"int entry(int x) {{ volatile int a = x; switch (a) {{ {cases} }} return 0; }}\n",
    )
    assert "tbb" in {i.mnemonic for i in read_image(tmp_path / "program.elf").instructions.values()}
    assert found.bytes == dict(found.path)["f7"] + found.path[0][1]
    assert dict(found.path)["f7"] == 120


SWITCH = """
int g(int); int h(int);
FAR int g(int x) { volatile int a[9]; a[x] = x; return a[x / 2]; }
FAR int h(int x) { volatile int a[7]; a[x] = x; return a[x / 2]; }
int entry(int x, int y) {
    switch (x) {
    case 0: return g(y); case 1: return h(y) + 1; case 2: return g(y) * 3; case 3: return 5;
    case 4: y += h(2); case 5: return h(y); case 6: return g(1); case 7: g(2); g(3);
    case 8: PADDING return g(4) - 1;
    }
    return 0;
}
"""


@pytest.mark.parametrize(
    ("core", "far", "jump"),
    first(
        [
            (("-mcpu=cortex-m0",), 0, "mov pc, r3"),
            (M3, 0, "tbb [pc, r0]"),
            (M3, 1000, "tbh [pc, r0, lsl #1]"),
            (M3, 70000, "ldr.w pc, [r3, r0, lsl #2]"),
        ],
        2,
    ),
)
def test_the_table_of_a_switch_is_read(
    tmp_path: Path, core: tuple[str, ...], far: int, jump: str
) -> None:
    padding = '__asm__("' + far * "nop\\n" + '");' if far else ""
    elf = link_program(tmp_path, NOINLINE + SWITCH.replace("PADDING", padding), *core)
    image = read_image(elf)
    (entry,) = image.find("entry")
    own = [i for i in image.instructions.values() if entry.address <= i.address < entry.end]
    (found,) = [i for i in own if i.mnemonic[:3] in ("tbb", "tbh") or i.operands[:4] == "pc, "]
    assert str(found).startswith(jump[:6])
    known = targets(image, entry, found)
    assert 7 <= len(known) <= 9  # of 9 cases, two of which may be one
    assert set(known) <= {i.address for i in own}
    assert bound(tmp_path, SWITCH.replace("PADDING", padding), core).bytes >= 40


JUMP = r"""
__attribute__((naked, noipa, aligned(4))) static int kernel(int x) {
    __asm__("push {r4, r5, r6, lr}\n  adr r3, 2f\n  add r3, r3, r0\n  orr r3, r3, #1\n  JUMP\n"
            "1:\n" FIRST "sub sp, #8\n  bl deep\n  add sp, #8\n"
            "2:\n" SECOND "nop\n  subs r0, #1\n  bne 1b\n  pop {r4, r5, r6, pc}\n");
}
FAR __attribute__((used)) int deep(int x) { volatile int a[8]; a[x] = x; return a[x / 2]; }
int entry(int x) { return kernel(x) + 1; }
"""


def jumping(jump: str, first: str = "", second: str = "") -> str:
    parts = f'#define FIRST "{first}"\n#define SECOND "{second}"\n'
    return parts + JUMP.replace("JUMP", jump)


def test_a_kernels_jump_goes_where_it_states(tmp_path: Path) -> None:
    """What stands behind the jump, and nothing states, is reached from label 2 alone."""
    found = bound(tmp_path, jumping("bx r3", second="kernel.to1:\\n"))
    assert found.path == (("entry", 8), ("kernel", 24), ("deep", 32))
    unused = jumping("bx r3", first="kernel.to1: sub sp, #64\\n", second="kernel.to2:\\n")
    with pytest.raises(StackError, match=r"how much kernel uses \(its stack grows in a loop"):
        bound(tmp_path, unused)  # each round would take 64 bytes more


@pytest.mark.parametrize(
    "jump",
    [
        "bx r3", "blx r3", "mov pc, r3", "ldr pc, [r3]", "ldr pc, [r3, r0, lsl #2]",
        "ldr pc, [r3], #4", "ldmia r3, {r0, pc}", "tbb [r3, r0]", "tbh [r3, r0, lsl #1]",
    ],
)  # fmt: skip
def test_a_jump_that_states_nothing_has_no_bound(tmp_path: Path, jump: str) -> None:
    with pytest.raises(StackError, match="kernel calls through a pointer") as caught:
        bound(tmp_path, jumping(jump))
    assert caught.value.functions == ("kernel",)


def test_a_label_of_another_function_states_nothing(tmp_path: Path) -> None:
    for second in ("other.to1:", "kernel.to:", "kernel.too1:"):
        with pytest.raises(StackError, match="kernel calls through a pointer"):
            bound(tmp_path, jumping("bx r3", second=f"{second}\\n"))


def test_static_functions_of_one_name_are_told_apart(tmp_path: Path) -> None:
    half = "static FAR int same(int x) {{ volatile int a[{n}]; a[x] = x; return a[x / 2]; }}\n"
    other = half.format(n=40) + "int other(int x) { return same(x) + 1; }\n"
    link_program(tmp_path, NOINLINE + other, *M4, name="other")
    source = half.format(n=4) + "int other(int);\nint entry(int x) { return same(x) + other(x); }\n"
    elf = link_program(tmp_path, NOINLINE + source, *M4, objects=("other.o",))
    graphs = [tmp_path / "program.ci", tmp_path / "other.ci"]
    found = stack_bound(elf, "entry", callgraphs=graphs)
    assert found.path[1:] == (("other", 8), ("same", 160))
    callgraph = StackAnalysis(read_image(elf), callgraphs=graphs)
    frames = sorted(callgraph.bound_at(item).bytes for item in callgraph.image.find("same"))
    assert frames == [16, 160]


def test_code_that_moves_sp_by_a_register_needs_a_description(tmp_path: Path) -> None:
    source = (
        '__asm__(".text\\n.thumb_func\\n.type strange, %function\\nstrange:\\n"\n'
        '        "sub sp, sp, r0\\nadd sp, sp, r0\\nbx lr\\n.size strange, . - strange\\n");\n'
        "void strange(int); void entry(int x) { strange(x); strange(x); }\n"
    )
    with pytest.raises(StackError, match=r"nothing says how much strange uses .*sub\.w sp, sp, r0"):
        bound(tmp_path, source)
    described = source.replace(
        "strange:\\n",
        "strange:\\n.cfi_sections .debug_frame\\n.cfi_startproc\\n.cfi_def_cfa_offset 64\\n",
    )
    described = described.replace("bx lr\\n", "bx lr\\n.cfi_endproc\\n")
    assert bound(tmp_path, described).path == (("entry", 8), ("strange", 64))


def test_an_unknown_entry_and_broken_files_are_sentences(tmp_path: Path) -> None:
    elf = link_program(tmp_path, "int entry(int x) { return x; }", *M4)
    with pytest.raises(StackError, match=r"the entry nothing is not in program\.elf"):
        stack_bound(elf, "nothing", callgraphs=[])
    with pytest.raises(ToolError, match="cannot be read"):
        stack_bound(elf, "entry", callgraphs=[tmp_path / "none.ci"])
    with pytest.raises(ToolError, match="no call graph of gcc"):
        stack_bound(elf, "entry", callgraphs=[elf])
    with pytest.raises(ToolError, match="cannot be read as an ELF file"):
        stack_bound(tmp_path / "program.c", "entry", callgraphs=[])
    (tmp_path / "cut.elf").write_bytes(elf.read_bytes()[:200])
    with pytest.raises(ToolError, match="cannot be read as an ELF file"):
        stack_bound(tmp_path / "cut.elf", "entry", callgraphs=[])


LIBRARY = """
#include <math.h>
#include <stdint.h>
#include <string.h>
volatile float f, g; volatile double d, e;
volatile int64_t l, m; volatile uint64_t u; volatile int i;
char a[64], b[64];
void entry(void) {
    f = expf(f); f = logf(f); f = sinf(f); f = cosf(f); f = tanhf(f); f = erff(f); f = powf(f, g);
    f = sqrtf(f); f = floorf(f); f = rintf(f); f = roundf(f); f = log1pf(f); f = expm1f(f);
    f = atanf(f); f = asinhf(f); f = acosf(f); f = fmodf(f, g); f = ldexpf(f, i); f = fmaf(f, g, f);
    f = f / g; i = f < g; f = (float)l; l = (int64_t)f; u = (uint64_t)f; d = d / e; d = d * e + e;
    d = exp(d); d = pow(d, e); d = sin(d); i = d < e; l = l / m; l = l % m; u = u / 3; f = (float)d;
    memcpy(a, b, i); memmove(a, a + 1, i); memset(a, 1, i); i = memcmp(a, b, i);
    i = __builtin_popcount(i); i = i / 7;
}
"""


@pytest.mark.parametrize("core", first(["m3", "m55", "m4", "m7", "m33"], 2))
def test_every_function_of_the_c_library_in_a_large_program_is_followed(
    tmp_path: Path, core: str
) -> None:
    elf = link_program(tmp_path, LIBRARY, *CORES[core])
    graph = elf.with_suffix(".ci")
    image = read_image(elf)
    analysis = StackAnalysis(image, callgraphs=[graph])
    found = analysis.bound("entry")
    assert 300 < found.bytes < 1200
    assert len(image.functions) > 60
    # Where the library describes itself, both ways agree; libgcc's assembly describes several
    # functions at once and so says more than one of them uses.
    for function in image.functions:
        if function.address in image.frames:
            assert analysis.frame(function.name) <= image.frames[function.address]
    described = [item for item in image.functions if item.address in image.frames]
    equal = [i for i in described if analysis.frame(i.name) == image.frames[i.address]]
    assert len(equal) > 0.9 * len(described) > 30


def test_what_the_host_knows_is_the_c_files_alone(tmp_path: Path) -> None:
    network = tmp_path / "network.ci"
    runtime = tmp_path / "runtime.ci"
    runtime.write_text(
        'graph: { title: "r.c"\n'
        'node: { title: "mcu_instance_run" label: "x\\nr.c:1:1\\n40 bytes (static)" }\n'
        'edge: { sourcename: "mcu_instance_run" targetname: "__indirect_call" label: "r.c:2:3" }\n'
        "}\n"
    )
    text = (
        'graph: { title: "n.c"\n'
        'node: { title: "n.c:run" label: "run\\nn.c:1:1\\n32 bytes (static)" }\n'
        'node: { title: "n.c:layer" label: "layer\\nn.c:2:1\\n24 bytes (dynamic,bounded)" }\n'
        'edge: { sourcename: "n.c:run" targetname: "n.c:layer" label: "" }\n'
        'edge: { sourcename: "n.c:run" targetname: "__indirect_call"'
        ' label: "include/mcu/internal.h:9:3" }\n'
        'edge: { sourcename: "n.c:layer" targetname: "expf" label: "" }\n}\n'
    )
    network.write_text(text)
    found = host_stack_bound("mcu_instance_run", network=network, callgraphs=[runtime])
    assert found.bytes == 96
    assert found.unknown == ("expf",)
    network.write_text(text.replace("dynamic,bounded", "dynamic"))
    with pytest.raises(StackError, match="layer takes memory from it by alloca"):
        host_stack_bound("mcu_instance_run", network=network, callgraphs=[runtime])
    network.write_text(text.replace('targetname: "expf"', 'targetname: "n.c:layer"'))
    with pytest.raises(StackError, match=r"in a circle: layer -> layer;"):
        host_stack_bound("mcu_instance_run", network=network, callgraphs=[runtime])


def instruction(text: str) -> Disassembled:
    mnemonic, _, operands = text.partition(" ")
    return Disassembled(0x100, "f3af 8000", mnemonic, operands)


@pytest.mark.parametrize(
    ("text", "effect"),
    [
        ("push {r4, r5, lr}", 12),
        ("stmdb sp!, {r4, r5, r6, r7, r8, lr}", 24),
        ("pop {r4, pc}", -8),
        ("ldmia.w sp!, {r4, r5, pc}", -12),
        ("ldmia.w sp, {r1, r2, r3}", 0),
        ("stmia.w sp, {r1, r2, r3}", 0),
        ("vpush {d8-d15}", 64),
        ("vpush {s16}", 4),
        ("vpop {s16-s19}", -16),
        ("vstmdb sp!, {d8}", 8),
        ("sub sp, #8", 8),
        ("sub.w sp, sp, #1024", 1024),
        ("subw sp, sp, #1028", 1028),
        ("add sp, #16", -16),
        ("addw sp, sp, #1028", -1028),
        ("str.w lr, [sp, #-4]!", 4),
        ("strd r4, r5, [sp, #-16]!", 16),
        ("ldr.w pc, [sp], #4", -4),
        ("ldrd r4, r5, [sp], #16", -16),
        ("str r0, [sp, #4]", 0),
        ("add r0, sp, #4", 0),
        ("cmp sp, r3", 0),
        ("mov r7, sp", 0),
        ("popne {r4, pc}", -8),
    ],
)
def test_what_an_instruction_does_to_sp(text: str, effect: int) -> None:
    assert stack_effect(instruction(text)) == effect


@pytest.mark.parametrize(
    "text",
    [
        "mov sp, r7",
        "add sp, r4",
        "sub.w sp, sp, r3",
        "ldr.w sp, [r0]",
        "msr PSP, r0",
        "stmia.w sp!, {r0}",
        "str.w r0, [sp, r1]!",
    ],
)
def test_an_unclear_change_of_sp_is_not_guessed(text: str) -> None:
    with pytest.raises(UnknownEffect):
        stack_effect(instruction(text))


@pytest.mark.parametrize("text", ["msr MSPLIM, r0", "msr PSPLIM, r3", "msr CONTROL, r0"])
def test_what_limits_sp_leaves_it_where_it_is(text: str) -> None:
    assert stack_effect(instruction(text)) == 0


def test_a_return_is_to_where_lr_was(tmp_path: Path) -> None:
    """Not to what was put there."""
    body = """
    __attribute__((noinline)) float other(float x) { return x + 1; }
    void entry(float *x) { x[0] = other(x[0]); %s }
    """
    for text in (
        '__asm__ volatile("mov lr, %0 \\n bx lr" : : "r"(x) : "lr");',
        '__asm__ volatile("ldr lr, [%0] \\n bx lr" : : "r"(x) : "lr");',
        '__asm__ volatile("push {%0} \\n pop {pc}" : : "r"(x));',
        '__asm__ volatile("str %0, [sp, #-4]! \\n ldr pc, [sp], #4" : : "r"(x));',
    ):
        with pytest.raises(StackError, match="calls through a pointer"):
            bound(tmp_path, body % text)
    assert bound(tmp_path, body % "").bytes < 100


def test_where_control_goes() -> None:
    assert flow(instruction("bl 0x8000")).calls == 0x8000
    assert flow(instruction("bleq 0x8000")).calls == 0x8000
    assert flow(instruction("blx r3")).indirect_call
    assert flow(instruction("bx r3")).indirect_jump
    assert flow(instruction("blxns r3")).indirect_call
    assert flow(instruction("bxns r3")).indirect_jump
    assert flow(instruction("ldmdb r0!, {r1, pc}")).indirect_jump
    assert not flow(instruction("bx lr")).falls
    assert flow(instruction("bxne lr")).falls
    for text in ("ble.n 0x20", "bls.w 0x20", "cbz r0, 0x20", "le lr, 0x20"):
        assert (flow(instruction(text)).jumps, flow(instruction(text)).falls) == (0x20, True)
    assert (flow(instruction("b.n 0x20")).jumps, flow(instruction("b.n 0x20")).falls) == (
        0x20,
        False,
    )
    assert flow(instruction("tbb [pc, r3]")).table
    assert flow(instruction("ldr.w pc, [r1, r0, lsl #2]")).table
    assert flow(instruction("ldr.w pc, [pc, #4]")).literal == 0x108
    assert not flow(instruction("pop {r4, pc}")).falls
    assert flow(instruction("bic r0, r1, #1")).falls
    assert not flow(instruction("udf #0")).falls
