"""Whose code it is that the compiler or the hygiene check refuses, or that has no bound of stack.

A network is one translation unit with the functions of several backends. When it does not compile,
or its object breaks a rule, the functions of each backend that could be left out are compiled by
themselves, and the first that is refused is named. Where each is fine alone, two do not go
together: they are added to the others one after the other, until the compiler refuses them.
What the analysis of the stack refuses has a name, and with it an owner.
"""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Sequence
from pathlib import Path

from mcu_deploy import hygiene
from mcu_deploy.boards import Processor
from mcu_deploy.codegen.symbols import Symbols
from mcu_deploy.compiled import Network
from mcu_deploy.errors import BackendFault, ToolError
from mcu_deploy.toolchain import StackError, Toolchain, network_flags

# With a descriptor of its own a trial is held to all rules of a network.
_DESCRIPTOR = (
    "const mcu_model_t _mcu_network_trial = "
    '{.abi_version = MCU_MODEL_ABI_VERSION, .name = "trial"};'
)


def find(
    networks: Sequence[Network], board: Processor, suspects: Collection[str]
) -> BackendFault | None:
    """The first of the backends `suspects` whose functions are refused, with the reason: alone, or
    beside those of the backends that are above suspicion and of the suspects before it."""
    used = {s.choice.workload.backend for n in networks for s in n.plan.steps}
    trials = [(backend, {backend}) for backend in suspects]
    beside = used.difference(suspects)
    for backend in suspects:
        beside = beside | {backend}
        trials.append((backend, beside))
    for backend, together in trials:
        for network in networks:
            text = _functions(network, together)
            reason = None if text is None else _refusal(text, board)
            if reason is not None:
                return _fault(backend, network, reason)
    return None


def find_on_stack(
    networks: Sequence[Network], problem: StackError, suspects: Collection[str]
) -> BackendFault | None:
    """The backend of `suspects` whose function is why the stack has no bound, or does not fit."""
    for network in networks:
        for function in problem.functions:
            # gcc's copies of a function (.constprop.0, .isra.0) are the function's owners'.
            owners = network.sources.owners.get(function.partition(".")[0], frozenset())
            for backend in suspects:
                if backend in owners:
                    return _fault(backend, network, problem.reason.rstrip("."))
    return None


def _fault(backend: str, network: Network, reason: str) -> BackendFault:
    return BackendFault(
        backend,
        f"The backend {backend} made code for network {network.name!r} that cannot be used: "
        f"{reason}.",
    )


def _functions(network: Network, backends: Collection[str]) -> str | None:
    """A C file with the functions of some backends; None where they have none in the network."""
    symbols = Symbols("trial")
    headers: set[str] = set()
    for step in network.plan.steps:
        workload = step.choice.workload
        if workload.backend not in backends or workload.function is None:
            continue
        headers.update(workload.headers)
        symbols.kernel(workload.helpers, workload.function)
    for owner, call in network.calls:
        if owner in backends:
            headers.update(call.headers)
            symbols.kernel(call.helpers, call.function)
    if not symbols.functions:
        return None
    lines = ['#include "mcu/internal.h"', *(f"#include <{header}>" for header in sorted(headers))]
    # A static function that nobody calls would be left out of the object.
    texts = (f"__attribute__((used)) {f.text}" for f in symbols.functions)
    return "\n".join([*lines, *texts, _DESCRIPTOR]) + "\n"


def _refusal(text: str, board: Processor) -> str | None:
    with tempfile.TemporaryDirectory(prefix="mcu-deploy-") as directory:
        folder = Path(directory)
        (folder / "trial.c").write_text(text, encoding="utf-8")
        try:
            made = Toolchain.for_board(board).compile_object(
                "trial.c", "trial.o", cwd=folder, flags=network_flags(board, "trial")
            )
        except ToolError as error:
            return str(error).rstrip(".")
        findings = hygiene.check_object(made, board=board, expected_name="trial")
        # A variable has a name that breaks a rule, too; that it is there says more.
        ordered = sorted(findings, key=lambda finding: finding.rule == "local-name")
        return ordered[0].message.rstrip(".") if ordered else None
