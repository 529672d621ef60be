"""What the C text of a backend may hold: every rule broken, and what keeps all of them."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from sampling import examples

from mcu_deploy.backends.c_rules import (
    ASM_DIRECTIVES,
    ATTRIBUTES,
    FUNCTION_ATTRIBUTES,
    HEADERS,
    RULES,
    Nonsense,
    check_function,
    check_headers,
)
from mcu_deploy.backends.workload import CFunction, Parameter

REPOSITORY = Path(__file__).resolve().parents[2]
BROKEN = {
    "a control character": ["{ \r\n }", "{ /* \u2028 */ }", "{ \f }", '{ "\u202e"; }'],
    "a trigraph": ["{ ??=define a }", "{ // ??/\n#define a\n}", '{ "??)"; }'],
    "a spliced line": ["{ // \\\n#define a\n}", "{ \\  \n }", '{ "\\\n"; }'],
    "a directive": [
        "{\n#define fabsf(v) (v)\n}", "{\n  # if 0\n}", "{\n%:define a\n}",
        "{ /**/ #/**/undef a\n}",
        '{ _Pragma("GCC optimize 0") }', "{\n#include <math.h>\n}", "{\n#\n}", "{ a # b; }",
    ],
    "a digraph": ["{ <% %> }", "{ a<:0:> = 1; }"],
    "no character of C": ["{ x = \u00e9; }", "{ @ }", "{ a = `b`; }", "{ \\u00e9; }", "{ a$; }"],
    "an open end": ["{ /* }", '{ "a }', "{ 'a }", "{ /* \" */ \" }", "{ '' }"],
    "a wrong bracket": [
        "{ } int g(void) { }", "{ (1; }", "{ a[1}; ] }", "{ { }", "{ } }", "{ ) ( }", "{};{}",
    ],
    "a storage class": [
        "{ static const int a[2] = {1}; }", "{ extern float f(float); }", "{ __thread int a; }",
    ],
    "a function": ["{ int f(int a) { return a; } }", "{ int (f)(int a) { return a; } }"],
    "an attribute": [
        "{ float f(float) __attribute__((weak)); }", "{ int a __attribute__((section(\"x\"))); }",
        "{ void f(void) __attribute((unused, constructor)); }", "{ int a __attribute__; }",
        "{ void f(void) __attribute__((alias(\"g\"))); }", "{ int a __attribute__((cleanup(f))); }",
    ],
    "an asm": [
        '{ int f(void) __asm__("g"); }', '{ register int x __asm__("r4"); }', "{ __asm__(NOP); }",
        '{ __asm__("nop" NOP); }', r'{ __asm__("\x2esection a"); }', '{ __asm__("%|.section a"); }',
        r'{ __asm__("nop /* \n*/ .section a"); }', '{ __asm__("#NO_APP"); }', "{ __asm__; }",
    ],
    "an asm directive": [
        '{ __asm__(".section a"); }', '{ __asm__("nop; .pushsection a"); }',
        r'{ __asm__("nop\n\t.globl a"); }', '{ __asm__("nop" /* " */ "; .set a, 1"); }',
        '{ __asm__("1: .weak a"); }', '{ __asm__("acc .req r0"); }', '{ __asm__(".macro nop"); }',
    ],
    "an asm symbol": [
        '{ __asm__("f:"); }', '{ __asm__("f :"); }', '{ __asm__("a = 5"); }',
        '{ __asm__("memcpy=fake"); }', r'{ __asm__("nop\nf: nop"); }', '{ __asm__("$.to1: nop"); }',
    ],
    "an unknown helper": ["{ y[0] = $negated(x[0]); }", "{ $neg(x, y); }"],
}  # fmt: skip
GOOD = [
    "{}", "{\n    // it's \"fine\" { ( [\n    /* # # \u00e9 ' */\n}",
    "{ for (int i = 0; i < 4; i++) { y[i] = fabsf(-x[i]); } }",
    "{ y[0] = '\\'' + '\"' + '{' + sizeof \"}\\\"/*\"; }",
    "{ struct { int a; } s = {1}; typedef float real; real z = s.a; y[0] = z; goto end; end:; }",
    "{ f((int[]){1}); s = (struct s){1}; return (struct s){1}; n = sizeof (int[2]){1}; }",
    "{ do { } while (0); if (x) { } else { } switch (1) { case (1): { } } }",
    "{ int a __attribute__((aligned(8), __unused__)); }", "{ y[0] = $twice(x[0]); }",
    "{ a = b % c; d = e ? f : g; h = i<j; k = 0x1.8p+3F; l = 1e-5F; }",
    '{ __asm__ volatile("smlad %0, %1, %2, %0\\n\\tnop" : "+r"(a) : "r"(b), "r"(c) : "cc"); }',
    '{ __asm__("1: subs %0, #1; bne 1b"); __asm__(".Lx%=: b .Lx%="); __asm__("ldr r0, =5"); }',
    '{ __asm__("it eq\\n\\tmoveq r0, r1\\n\\t.p2align 2\\n\\t.inst.n 0xbf00"); }',
    '{ __asm__("vmov.f32 s0, s1" ::: "s0"); }',
]  # fmt: skip


def refusal(body: str) -> str:
    pointers = (Parameter("const float *", "x"), Parameter("float *", "y"))
    try:
        check_function(CFunction("neg", pointers, body), {"twice"})
    except Nonsense as nonsense:
        return str(nonsense)
    return ""


@pytest.mark.parametrize("rule", RULES)
def test_each_rule(rule: str) -> None:
    for body in BROKEN[rule]:
        said = refusal(body)
        assert said.startswith(f"the body of neg holds {rule} in line "), (body, said)
        assert said.endswith(f": {RULES[rule]}")


def test_a_body_that_is_none() -> None:
    for body in ("", "return;", "{ // }", "x {}", "{} x", "/* {} */"):
        assert refusal(body) == "the body of neg does not begin with { and end with }", body


def test_what_keeps_all_rules() -> None:
    for body in GOOD:
        assert refusal(body) == "", body


def test_the_line_is_named() -> None:
    assert "in line 3, '#define a'" in refusal("{\n    y[0] = 1;\n    #define a\n}")


def test_pieces_in_any_order_end_in_a_clause() -> None:
    """Whatever the text is: a Nonsense of one line, in time that grows with its length alone."""
    pieces = [p for bodies in BROKEN.values() for b in bodies for p in b.split()] + ["\n", " ", "}"]
    random_ = random.Random(5)
    for _ in range(examples(2000, 100)):
        body = "{" + "".join(random_.choices(pieces, k=random_.randrange(12))) + "}"
        assert "\n" not in refusal(body)
    for piece in ("(", "{", "/*", '"', "){", " ", '__asm__("");', "\\", "?", "$a", "//\n", "'"):
        refusal("{" + piece * 5_000 + "}")


def test_names_and_types() -> None:
    def told(
        stem: str = "neg", ctype: str = "float *", name: str = "x", result: str = "void"
    ) -> str:
        function = CFunction(stem, (Parameter(ctype, name),), "{}", result)
        with pytest.raises(Nonsense) as refused:
            check_function(function, ())
        return str(refused.value)

    assert told(stem="2fast") == "a function's stem is '2fast', not a C identifier"
    for word in ("while", "_Pragma", "asm", "__attribute__", "static", "typeof"):
        assert told(name=word) == f"a parameter of neg is {word!r}, a keyword of C"
    for ctype in ("static float *", "extern int *", "typedef int *", "float (*)(", "float *;", "#"):
        assert "not a C type" in told(ctype=ctype)
    assert told(result="inline int") == "the result of neg is 'inline int', not a C type"


def test_attributes_of_a_function() -> None:
    def told(inline: bool, *attributes: str) -> str:
        try:
            check_function(CFunction("f", (), "{}", inline=inline, attributes=attributes), ())
        except Nonsense as nonsense:
            return str(nonsense)
        return ""

    assert told(True, "always_inline") == told(True) == ""
    for section in (".ramfunc", ".text.hot_1"):
        assert told(False, f'section("{section}")', "aligned(16)") == ""
    assert told(False, "always_inline") == "f has the attribute always_inline, but is not inline"
    assert told(True, "aligned(8)") == "f has the attribute aligned(8), but is inline"
    for bad in ("weak", "aligned(3)", 'section(".data")', 'section(".text.a\\n.globl b")', ""):
        assert told(False, bad).startswith(f"the attribute {bad!r} of f is none of aligned(N)")


def test_headers() -> None:
    check_headers(HEADERS)
    for header in ("tgmath.h", "complex.h", "assert.h", "../secret.h", "math.h>\n#define a", ""):
        with pytest.raises(Nonsense, match="none of those that a workload may name: arm_acle"):
            check_headers([header])


def test_the_page_has_the_same_words() -> None:
    page = " ".join((REPOSITORY / "docs" / "backends.md").read_text().split())
    for word in (*HEADERS, *ATTRIBUTES, *FUNCTION_ATTRIBUTES, *ASM_DIRECTIVES):
        assert f"`{word}`" in page, word
    for rule in RULES:
        assert f"**{rule}**" in page, rule


@pytest.mark.parametrize(
    ("body", "broken"),
    [
        ('{ __asm__("bx lr"); }', ""),
        ('{ __asm__("nop\\n" /* then */ "bx lr\\n"); }', ""),
        ('{ __asm__("bx r1\\n" "$.to1:\\n" "nop\\n" "$.to2: bx lr\\n"); }', ""),
        ('{ __asm__("$.to: bx lr"); }', "an asm symbol"),
        ('{ __asm__("bx lr" ::: "r0"); }', "more than one asm"),
        ('{ x++; __asm__("bx lr"); }', "more than one asm"),
        ('{ __asm__("nop"); __asm__("bx lr"); }', "more than one asm"),
    ],
)
def test_a_naked_function_is_one_asm(body: str, broken: str) -> None:
    function = CFunction("low", (), body, naked=True)
    if not broken:
        check_function(function, ())
        return
    with pytest.raises(Nonsense, match=broken):
        check_function(function, ())
