"""Small mistakes in Python sources, and a fixed sample of them.

A mutation replaces one expression or statement. The sample takes those whose digests are smallest,
one a line at most: what a change of the sources does not touch stays in the sample, or out of it.

Neither mutmut nor cosmic-ray is used. mutmut (3.8) writes every mutation of every function into the
sources and finds the tests of each by running all tests; cosmic-ray (8.7) changes the file in place
and starts a pytest for each mutation. Neither takes a sample that stays when lines move.
"""

from __future__ import annotations

import ast
import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

_COMPARED: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt), ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,),
}  # fmt: skip
_COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv, ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd, ast.Div: ast.Mult,
}  # fmt: skip
_CALLED = {"min": "max", "max": "min", "any": "all", "all": "any"}


@dataclass(frozen=True)
class Mutation:
    """file: of the repository. place: the function it is in. text: the whole file with it."""

    file: str
    line: int
    place: str
    old: str
    new: str
    text: str

    @property
    def name(self) -> str:
        """Without the line's number: it stays when others come before it."""
        return f"{self.file}:{self.place}: {self.old} -> {self.new}"


def mutations(root: Path, file: str) -> Iterator[Mutation]:
    """Those of one file, in its order."""
    text = (root / file).read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line.encode()))
    data = text.encode()
    seen: Counter[str] = Counter()
    for place, node, new in _changes(ast.parse(text), ""):
        assert node.end_lineno is not None and node.end_col_offset is not None
        begin = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        old = ast.unparse(node)
        again = seen[f"{place} {old} {new}"]
        seen[f"{place} {old} {new}"] += 1
        yield Mutation(
            file, node.lineno, f"{place}#{again + 1}" if again else place, old, new,
            (data[:begin] + new.encode() + data[end:]).decode(),
        )  # fmt: skip


def sample(root: Path, files: Sequence[str], count: int) -> list[Mutation]:
    """So many of these files, in the order of files and lines."""
    every = [mutation for file in files for mutation in mutations(root, file)]
    every.sort(key=lambda mutation: hashlib.sha256(mutation.name.encode()).digest())
    chosen: dict[tuple[str, int], Mutation] = {}
    for mutation in every:
        if len(chosen) < count:
            chosen.setdefault((mutation.file, mutation.line), mutation)
    return [chosen[key] for key in sorted(chosen)]


def _changes(node: ast.AST, place: str) -> Iterator[tuple[str, ast.stmt | ast.expr, str]]:
    """The function, what is replaced, and by what."""
    # Positions in strings are none of the file's. What an assertion says no test can break.
    if isinstance(node, ast.JoinedStr | ast.Assert):
        return
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        place = f"{place}.{node.name}".lstrip(".")
    if isinstance(node, ast.stmt | ast.expr):
        for new in _instead_of(node):
            yield place, node, new
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list", "type_params"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _changes(child, place)


def _instead_of(node: ast.stmt | ast.expr) -> Iterator[str]:
    match node:
        case ast.Compare(left, [op], [right]):
            for other in _COMPARED[type(op)]:
                yield ast.unparse(ast.Compare(left, [other()], [right]))
        case ast.BinOp(left, op, right) if type(op) in _COMPUTED:
            yield f"({ast.unparse(ast.BinOp(left, _COMPUTED[type(op)](), right))})"
        case ast.BoolOp(op, values):
            other = ast.Or() if isinstance(op, ast.And) else ast.And()
            yield f"({ast.unparse(ast.BoolOp(other, values))})"
        case ast.UnaryOp(ast.Not() | ast.USub(), operand):
            yield f"({ast.unparse(operand)})"
        case ast.Constant(bool(value)):
            yield str(not value)
        case ast.Constant(int(value)):
            yield str(value + 1)
            if value > 0:
                yield str(value - 1)
        case ast.Call(ast.Name(name), arguments, keywords) if name in _CALLED:
            call = ast.Call(ast.Name(_CALLED[name], ast.Load()), arguments, keywords)
            yield ast.unparse(call)
        case ast.IfExp(test, body, orelse):
            yield f"({ast.unparse(ast.IfExp(ast.UnaryOp(ast.Not(), test), body, orelse))})"
        case ast.Expr(ast.Call()) | ast.AugAssign() | ast.Raise():
            yield "pass"
        case ast.Return(value) if value is not None and not isinstance(value, ast.Constant):
            yield "return None"
        case ast.Continue():
            yield "break"
        case ast.Break():
            yield "continue"
