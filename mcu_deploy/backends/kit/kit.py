"""What a backend's workloads have in common: its id, its templates, its C files."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import jinja2

from mcu_deploy.backends.interface import (
    Argument,
    CFunction,
    Constant,
    Costs,
    InPlace,
    Layer,
    Parameter,
    Role,
    Workload,
)
from mcu_deploy.backends.kit.arguments import Prototype, signature
from mcu_deploy.backends.kit.c_files import function_of
from mcu_deploy.backends.kit.loops import around, counter, each, nest, plus, step, times, when
from mcu_deploy.files import templates

_TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True)
class Kit:
    """The kit of one backend. folder: of its module, with its `templates/`."""

    id: str
    folder: Path

    def render(self, template: str, **values: object) -> str:
        """A C function body from a template of `templates/`, which may use `loops` and include the
        kit's own. What is empty leaves no line."""
        text = _environment(self.folder / "templates").get_template(template).render(**values)
        return "\n".join(line for line in text.split("\n") if line.strip())

    def helper(self, template: str, **values: object) -> CFunction:
        """A `static inline` C function from a template that has it whole."""
        return function_of(self.render(template, **values))

    def workload(
        self,
        layer: Layer,
        function: CFunction,
        arguments: tuple[Argument, ...],
        constants: tuple[Constant, ...] = (),
        helpers: tuple[CFunction, ...] = (),
        headers: tuple[str, ...] = (),
        in_place: tuple[InPlace, ...] = (),
        scratch_bytes: int = 0,
        costs: Costs | None = None,
    ) -> Workload:
        """A workload of the backend; costs: by default the layer's MACs alone."""
        return Workload(
            self.id, function, arguments, constants, helpers, headers, scratch_bytes,
            in_place=in_place, costs=costs or Costs(macs=layer.macs),
        )  # fmt: skip

    def compute(
        self,
        layer: Layer,
        stem: str,
        body: str,
        constants: Sequence[Constant] = (),
        helpers: tuple[CFunction, ...] = (),
        headers: tuple[str, ...] = (),
        in_place: tuple[InPlace, ...] = (),
        operands: Mapping[str, int] | None = None,
        result: str = "void",
    ) -> Workload:
        """A workload by one C function, whose parameters `signature` gives."""
        given = signature(layer, constants, operands)
        return self.call(stem, body, given, helpers, headers, in_place, result=result)

    def call(
        self,
        stem: str,
        body: str,
        given: Prototype,
        helpers: tuple[CFunction, ...] = (),
        headers: tuple[str, ...] = (),
        in_place: tuple[InPlace, ...] = (),
        scratch_bytes: int = 0,
        result: str = "void",
    ) -> Workload:
        """A workload by one C function of what is given."""
        function = CFunction(stem, tuple(given.parameters), body, result)
        return self.workload(
            given.layer, function, tuple(given.arguments), tuple(given.constants), helpers, headers,
            in_place, scratch_bytes,
        )  # fmt: skip

    def view(self) -> Workload:
        """The workload of a layer whose output is its input's memory."""
        return Workload(self.id, None)

    def nothing(self, layer: Layer) -> Workload:
        """The workload of a layer whose outputs have no elements."""
        count = len(layer.outputs)
        names = ["y"] if count == 1 else [f"y{index}" for index in range(count)]
        function = CFunction(
            "nothing" if count == 1 else f"nothing_{count}",
            tuple(Parameter("void *", name) for name in names),
            "{\n" + "".join(f"    (void){name};\n" for name in names) + "}",
        )
        arguments = tuple(Argument(Role.OUTPUT, index) for index in range(count))
        return self.workload(layer, function, arguments)


@functools.cache
def _environment(folder: Path) -> jinja2.Environment:
    environment = templates.environment(folder, _TEMPLATES, keep_trailing_newline=False)
    environment.globals |= {
        "around": around, "counter": counter, "each": each, "nest": nest, "plus": plus,
        "step": step, "times": times, "when": when,
    }  # fmt: skip
    return environment
