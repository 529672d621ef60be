"""What the C text of a backend may hold: the one place that says it (docs/backends.md lists it).

A network is one file with the functions of several backends. What stands in one function must not
reach another: no directive, whichever way it is spelled, nothing behind the function's last brace,
nothing that changes symbols or sections. The text is read as gcc does with -std=c99: trigraphs,
then spliced lines, then tokens.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Mapping, Sequence

from mcu_deploy.backends.workload import CFunction

HEADERS = (
    "arm_acle.h", "arm_fp16.h", "arm_mve.h", "arm_neon.h", "float.h", "immintrin.h", "inttypes.h",
    "limits.h", "math.h", "stdbool.h", "stddef.h", "stdint.h", "stdlib.h", "string.h",
)  # fmt: skip
ATTRIBUTES = ("aligned", "fallthrough", "may_alias", "packed", "unused", "vector_size")
FUNCTION_ATTRIBUTES = (
    "aligned(N)",
    "always_inline",
    'section(".ramfunc")',
    'section(".text.NAME")',
)
ASM_DIRECTIVES = (".align", ".balign", ".p2align", ".inst", ".inst.n", ".inst.w", ".syntax unified")

# What each rule says, by what its messages begin with. The page for authors has the same words.
RULES = {
    "a control character": "a body is printable characters, tabs and line ends",
    "a trigraph": "of trigraphs there is none, in comments and strings neither",
    "a spliced line": "no line ends with a backslash",
    "a directive": "no # or %: outside of strings and comments, and no _Pragma",
    "a digraph": "brackets are written as [ ] { }",
    "no character of C": "outside of strings and comments there is ASCII only, and no @ ` \\",
    "an open end": "comments, strings and character constants are closed",
    "a wrong bracket": "brackets are balanced, and the last one closes the first",
    "a storage class": "no static, extern, _Thread_local or __thread",
    "a function": "no function inside of a function",
    "an attribute": f"of attributes only {', '.join(ATTRIBUTES)}",
    "an asm": "asm is a statement of its own behind ; : { or }, its text string literals with "
    "mnemonics, operands and line ends",
    "an asm directive": f"of assembler directives only {', '.join(ASM_DIRECTIVES)}",
    "an asm symbol": "labels are numbers or .L...%=, in a naked function $.to1, $.to2 and so on "
    "where a computed jump goes to, and no symbol is set",
    "an unknown helper": "each $word is a helper that the workload lists before",
}

_KEYWORDS = frozenset((
    "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum",
    "extern", "float", "for", "goto", "if", "inline", "int", "long", "register", "restrict",
    "return", "short", "signed", "sizeof", "static", "struct", "switch", "typedef", "union",
    "unsigned", "void", "volatile", "while", "_Bool", "_Complex", "_Imaginary", "asm", "typeof",
))  # fmt: skip
# Words that make no type of a parameter or a result.
_NO_TYPE = _KEYWORDS - frozenset((
    "char", "const", "double", "float", "int", "long", "short", "signed", "unsigned", "void",
    "volatile", "_Bool",
))  # fmt: skip
_STORAGE = ("static", "extern", "_Thread_local", "__thread")
_PRAGMAS = ("_Pragma", "__pragma")
_ASM = ("asm", "__asm", "__asm__")
_ATTRIBUTE = ("__attribute", "__attribute__")
_PAIRS = {")": "(", "]": "[", "}": "{"}
# Before a parenthesis that has a brace behind it: a statement, or a cast of a compound literal.
_BEFORE_BRACE = ("if", "for", "while", "switch", "return", "case", "sizeof", "else", "do")
_ASM_CALL = re.compile(
    r"(?:\s*(?:__)?(?:volatile|goto|inline)(?:__)?\b)*\s*\(\s*(?P<template>(?:\" *\"\s*)+)[:)]"
)
_LONGEST_NAME = 64
_COMMENT = re.compile(r"[ ->@-\[\]-~]+")  # no trigraph, no spliced line
_FUNCTION_ATTRIBUTE = re.compile(
    r'always_inline|aligned\((4|8|16|32|64)\)|section\("\.(ramfunc|text\.[A-Za-z_]\w{0,63})"\)',
    re.ASCII,
)

# Comments, strings and character constants, and what begins one that does not end.
_QUOTED = re.compile(
    r"""//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)+'|(?P<open>/\*|"|')""", re.DOTALL
)
_SPECIAL = re.compile(rf"\b(?:{'|'.join((*_STORAGE, *_ASM, *_ATTRIBUTE))})\b", re.ASCII)
# What is wrong wherever it stands: in the text, and in the text without comments and strings.
_IN_TEXT = {
    "a trigraph": re.compile(r"\?\?[=/'()!<>-]"),
    "a spliced line": re.compile(r"\\[ \t]*\n"),
}
_IN_CODE = {
    "a directive": re.compile(rf"#|%:|\b(?:{'|'.join(_PRAGMAS)})\b", re.ASCII),
    "a digraph": re.compile(r"<%|%>|<:|:>"),
    "no character of C": re.compile(r"[^\n\t\x20-\x7e]|[@`\\]|\$(?![A-Za-z_])"),
}


class Nonsense(Exception):
    """An answer that cannot be used: a clause that completes "answered nonsense: ..."."""


def require(condition: bool, reason: str) -> None:
    """Raises Nonsense unless the condition holds."""
    if not condition:
        raise Nonsense(reason)


def check_function(function: CFunction, helpers: Collection[str]) -> None:
    """A function's names, types, attributes and body. helpers: the stems that `$words` may mean.

    Raises Nonsense with the rule that it breaks.
    """
    _check_function(function, frozenset(helpers))


@functools.lru_cache(1 << 8)  # of layers that are alike they are the same
def _check_function(function: CFunction, helpers: frozenset[str]) -> None:
    stem = identifier(function.stem, "a function's stem")
    ctype(function.result, f"the result of {stem}")
    for parameter in function.parameters:
        ctype(parameter.ctype, f"the type of a parameter of {stem}")
        identifier(parameter.name, f"a parameter of {stem}")
    for attribute in function.attributes:
        require(
            _FUNCTION_ATTRIBUTE.fullmatch(attribute) is not None,
            f"the attribute {_shown(attribute)} of {stem} is none of "
            f"{', '.join(FUNCTION_ATTRIBUTES)}",
        )
        kind = "inline" if function.inline else "not inline"
        require(
            (attribute == "always_inline") == function.inline,
            f"{stem} has the attribute {attribute}, but is {kind}",
        )
    for line in function.comment:
        require(
            _COMMENT.fullmatch(line) is not None and not re.search(r"\*/|/\*|^/|/$", line),
            f"a line of the comment of {stem} is no text for one, {_shown(line)}",
        )
    names = {parameter.name for parameter in function.parameters}
    require(len(names) == len(function.parameters), f"two parameters of {stem} have one name")
    body = _Body(stem, function.body, helpers, function.naked)
    body.check()
    if function.naked:
        require(not function.inline, f"{stem} is naked, and inline")
        require(body.is_one_asm, f"{stem} is naked, and its body is more than one asm")


def check_headers(headers: Sequence[str]) -> None:
    """Raises Nonsense for a header that a workload must not name."""
    for header in headers:
        require(
            header in HEADERS,
            f"the header {_shown(header)} is none of those that a workload may name: "
            f"{', '.join(HEADERS)}",
        )


def identifier(text: str, what: str) -> str:
    """A C identifier that is no keyword."""
    require(
        re.fullmatch(rf"[A-Za-z_][A-Za-z0-9_]{{0,{_LONGEST_NAME - 1}}}", text) is not None,
        f"{what} is {_shown(text)}, not a C identifier",
    )
    words = (*_PRAGMAS, *_ASM, *_ATTRIBUTE, *_STORAGE)
    require(text not in _KEYWORDS and text not in words, f"{what} is {text!r}, a keyword of C")
    return text


def ctype(text: str, what: str) -> str:
    """A C type that is made of words and stars."""
    found = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_ *]{0,99}", text)
    words = set(re.findall(r"\w+", text))
    known = (*_PRAGMAS, *_ASM, *_ATTRIBUTE, *_STORAGE)
    require(
        found is not None and words.isdisjoint(_NO_TYPE) and words.isdisjoint(known),
        f"{what} is {_shown(text)}, not a C type",
    )
    return text


class _Body:
    """The body of one function, and what its faults are called.

    `code` is the text with blanks in place of comments, and of what is in strings and character
    constants: as long as the text, so that places are the same in both.
    """

    def __init__(self, stem: str, text: str, helpers: Collection[str], naked: bool) -> None:
        self._stem, self._text, self._helpers, self._naked = stem, text, helpers, naked

    def check(self) -> None:
        for found in re.finditer(r"[^\n\t\x20-\x7e]", self._text):
            if not found[0].isprintable():
                raise self._broken("a control character", found.start())
        self._refuse(_IN_TEXT, self._text)
        self._code = _QUOTED.sub(self._blanked, self._text)
        self._refuse(_IN_CODE, self._code)
        self._check_brackets()
        for found in re.finditer(r"\$(\w+)", self._code):
            if found[1] not in self._helpers:
                raise self._broken("an unknown helper", found.start())
        for found in _SPECIAL.finditer(self._code):
            if found[0] in _STORAGE:
                raise self._broken("a storage class", found.start())
            if found[0] in _ATTRIBUTE:
                self._check_attribute(found.start(), found.end())
            else:
                self._check_asm(found.start(), found.end())

    @property
    def is_one_asm(self) -> bool:
        """Of a body that was checked: whether it is an asm without operands, and nothing else."""
        words = re.sub(r'"[^"]*"', "", self._code)
        return (
            re.fullmatch(rf"\{{\s*(?:{'|'.join(_ASM)})\s*\(\s*\)\s*;\s*\}}", words.strip())
            is not None
        )

    def _refuse(self, rules: Mapping[str, re.Pattern[str]], text: str) -> None:
        for rule, pattern in rules.items():
            for found in pattern.finditer(text):
                raise self._broken(rule, found.start())

    def _blanked(self, found: re.Match[str]) -> str:
        text = found[0]
        if found["open"]:
            raise self._broken("an open end", found.start())
        if text[0] != "/":  # it is in one line, since no line is spliced
            return f"{text[0]}{' ' * (len(text) - 2)}{text[0]}"
        return "\n".join(" " * len(line) for line in text.split("\n"))

    def _check_brackets(self) -> None:
        """Balanced, the last closes the first; and none opens a function."""
        body = self._code.strip()
        require(
            body.startswith("{") and body.endswith("}"),
            f"the body of {self._stem} does not begin with {{ and end with }}",
        )
        last, closed = self._code.rindex("}"), (-1, -1)
        open_ones: list[int] = []
        for found in re.finditer(r"[][(){}]", self._code):
            at, bracket = found.start(), found[0]
            if bracket in "([{":
                if bracket == "{" and closed[0] >= 0 and not self._code[closed[1] + 1 : at].strip():
                    self._check_no_function(closed[0])
                closed = (-1, -1)
                open_ones.append(at)
                continue
            if not open_ones or self._code[open_ones[-1]] != _PAIRS[bracket]:
                raise self._broken("a wrong bracket", at)
            opened = open_ones.pop()
            if not open_ones and at != last:
                raise self._broken("a wrong bracket", at)
            closed = (opened, at) if bracket == ")" else (-1, -1)
        if open_ones:
            raise self._broken("a wrong bracket", open_ones[-1])

    def _check_no_function(self, opened: int) -> None:
        """Before the parenthesis at `opened`, that a brace stands behind."""
        before = re.search(r"\w+$|\)$", self._before(opened), re.ASCII)
        if before is not None and before[0] not in _BEFORE_BRACE:
            raise self._broken("a function", opened)

    def _check_attribute(self, at: int, end: int) -> None:
        found = re.compile(r"\s*\(\s*\(([^()]|\([^()]*\))*\)\s*\)").match(self._code, end)
        if found is None:
            raise self._broken("an attribute", at)
        listed = re.sub(r"\([^()]*\)", "", found[0].strip()[1:-1].strip()[1:-1])
        for name in listed.split(","):
            if name.strip().strip("_") not in ATTRIBUTES:
                raise self._broken("an attribute", at)

    def _check_asm(self, at: int, end: int) -> None:
        is_statement = re.search(r"[;{}:]$|\b(?:else|do)$", self._before(at))
        found = _ASM_CALL.match(self._code, end)
        if is_statement is None or found is None:
            raise self._broken("an asm", at)
        first, last = found.span("template")
        literals = re.compile(r'" *"').finditer(self._code, first, last)
        rule = broken_by(
            "".join(self._text[x.start() + 1 : x.end() - 1] for x in literals), self._naked
        )
        if rule:
            raise self._broken(rule, at)

    def _before(self, at: int) -> str:
        """The last code before a place, as far as a rule looks at it."""
        return self._code[max(0, at - 1000) : at].rstrip()

    def _broken(self, rule: str, at: int) -> Nonsense:
        line = self._text.count("\n", 0, at) + 1
        found = self._text[at:].split("\n", 1)[0].strip()
        return Nonsense(
            f"the body of {self._stem} holds {rule} in line {line}, {_shown(found)}: {RULES[rule]}"
        )


def broken_by(literals: str, naked: bool = False) -> str:
    """The rule that the text of an asm breaks, as its string literals have it; "" for none.

    naked: it is the body of a function, which gcc copies nowhere; its labels may have names.

    Each statement begins with a mnemonic, so that neither a comment nor an operand can make another
    one of it.
    """
    if re.search(r"\\(?![nt\\\"'])|%(?![\w\[=%])", literals):
        return "an asm"
    text = literals.replace("\\n", "\n").replace("\\t", " ")
    statements = dict.fromkeys(re.split(r"[;\n]", text))
    return next((rule for s in statements if (rule := _broken_by_one(s, naked))), "")


@functools.lru_cache(1 << 14)  # of many kernels they are the same
def _broken_by_one(statement: str, naked: bool) -> str:
    label = r"\d+|\.L\w*%=\w*" + r"|\$\.to\d+" * naked
    rest = re.sub(rf"^(?:\s*(?:{label})\s*:)+", "", statement).strip()
    if not rest:
        return ""
    first = rest.split()[0]
    if re.match(r"[A-Za-z_$][\w.$]*\s*:|[^,]*(?<!%)=", rest):
        return "an asm symbol"
    if first.startswith(".") and not {first, rest} & {*ASM_DIRECTIVES}:
        return "an asm directive"
    if not first.startswith(".") and not re.fullmatch(r"[A-Za-z][\w.]*", first):
        return "an asm"
    if re.search(r"(?<![\w.])\.(?!L)[A-Za-z_]\w*", rest.removeprefix(first)):
        return "an asm directive"
    return ""


def _shown(text: str) -> str:
    shown = repr(text)
    return shown if len(shown) <= 40 else f"{shown[:40]}..."
