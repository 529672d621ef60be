"""Einsum-12 as products of matrices: two operands at a time, from the left.

Letters that both have and that stay are axes of a batch, letters that both have and that go are
summed by MatMul, and letters that one operand alone has and that go are summed before.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mcu_deploy.formats.onnx_body import Body, require


@dataclass(frozen=True)
class _Term:
    """A tensor with a letter for each axis; an axis of "..." has a number for its letter."""

    tensor: str
    letters: tuple[str, ...]


def einsum(b: Body) -> str:
    """The body of an Einsum. Raises NoBody where the shapes do not fit the equation."""
    shapes = [shape for shape in b.shapes if shape is not None]
    text = b.attributes["equation"].decode().replace(" ", "")
    left, arrow, right = text.partition("->")
    parts = left.split(",")
    require(len(shapes) == len(b.shapes) == len(parts))
    letters = [_letters(p, len(s)) for p, s in zip(parts, shapes, strict=True)]
    sizes: dict[str, int] = {}
    for term, shape in zip(letters, shapes, strict=True):
        require(len(term) == len(shape))
        for letter, size in zip(term, shape, strict=True):
            sizes[letter] = max(sizes.get(letter, 1), size)
    every = [letter for term in letters for letter in term]
    dots = sorted((x for x in set(every) if x.isdigit()), reverse=True)
    if arrow:
        output = _letters(right, len(right.replace("...", "")) + len(dots))
    else:
        output = (*dots, *sorted(x for x in set(every) if every.count(x) == 1 and x not in dots))
    terms = [
        _plain(b, _Term(name, term), shape, sizes)
        for name, term, shape in zip(b.inputs, letters, shapes, strict=True)
    ]
    result = terms[0]
    for k, other in enumerate(terms[1:], 1):
        needed = {*output, *(letter for later in terms[k + 1 :] for letter in later.letters)}
        result = _product(b, result, other, needed, sizes)
    result = _summed(b, result, output)
    require(set(result.letters) == set(output))
    return b.transpose(result.tensor, [result.letters.index(letter) for letter in output])


def _letters(part: str, rank: int) -> tuple[str, ...]:
    """ "..." are the axes that the letters leave, counted from the last one: 2, 1, 0."""
    count = rank - len(part.replace("...", ""))
    before, dots, behind = part.partition("...")
    return (*before, *(str(k) for k in reversed(range(count if dots else 0))), *behind)


def _plain(b: Body, term: _Term, shape: Sequence[int], sizes: dict[str, int]) -> _Term:
    """Each letter once, and none along which the tensor is repeated."""
    tensor, letters, extents = term.tensor, list(term.letters), list(shape)
    for letter in dict.fromkeys(term.letters):
        while letters.count(letter) > 1:
            # The diagonal of two axes is every (n + 1)-th element of both as one.
            first = letters.index(letter)
            second = letters.index(letter, first + 1)
            others = [k for k in range(len(letters)) if k not in (first, second)]
            size = extents[first]
            tensor = b.transpose(tensor, [*others, first, second])
            letters = [*(letters[k] for k in others), letter]
            extents = [extents[k] for k in others]
            tensor = b.reshape(tensor, (*extents, size * size))
            last, step = b.ints(len(others)), b.ints(size + 1)
            tensor = b("Slice", tensor, b.ints(0), b.ints(size * size), last, step)
            extents.append(size)
    kept = [k for k, letter in enumerate(letters) if extents[k] == sizes[letter]]
    if len(kept) < len(letters):
        tensor = b.reshape(tensor, [extents[k] for k in kept])
    return _Term(tensor, tuple(letters[k] for k in kept))


def _summed(b: Body, term: _Term, kept: Iterable[str]) -> _Term:
    """The sum over the letters that are not kept."""
    kept = set(kept)
    axes = [k for k, letter in enumerate(term.letters) if letter not in kept]
    if not axes:
        return term
    return _Term(
        b.reduced("ReduceSum", term.tensor, axes, keepdims=0),
        tuple(letter for letter in term.letters if letter in kept),
    )


def _product(b: Body, x: _Term, y: _Term, needed: set[str], sizes: dict[str, int]) -> _Term:
    x = _summed(b, x, needed | set(y.letters))
    y = _summed(b, y, needed | set(x.letters))
    both = [letter for letter in x.letters if letter in y.letters]
    batch = [letter for letter in both if letter in needed]
    gone = [letter for letter in both if letter not in needed]
    rows = [letter for letter in x.letters if letter not in both]
    columns = [letter for letter in y.letters if letter not in both]
    letters = (*batch, *rows, *columns)

    def matrix(term: _Term, *groups: Sequence[str]) -> str:
        order = [term.letters.index(letter) for group in (batch, *groups) for letter in group]
        shape = [sizes[letter] for letter in batch]
        shape += [math.prod(sizes[letter] for letter in group) for group in groups]
        return b.reshape(b.transpose(term.tensor, order), shape)

    op = "MatMul" if gone else "Mul"
    made = b(op, matrix(x, rows, gone), matrix(y, gone, columns))
    return _Term(b.reshape(made, [sizes[letter] for letter in letters]), letters)
