"""`optimize`: a model, compiled up to its plan, in a .pmx file (docs/pmx.md)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mcu_deploy import compiler, pmx
from mcu_deploy.boards import Board, load_board
from mcu_deploy.compiled import CompiledModel
from mcu_deploy.errors import UsageError
from mcu_deploy.formats.imported import AssumedShape, tell_assumed
from mcu_deploy.options import Options
from mcu_deploy.output import require_writable, write_file
from mcu_deploy.report import OptimizedReport, optimized_report
from mcu_deploy.session import Session, session_or_own


@dataclass(frozen=True)
class Optimized:
    """A .pmx file, its size, and the model that is in it."""

    path: Path
    bytes: int
    model: CompiledModel
    assumed: tuple[AssumedShape, ...] = ()

    def report(self) -> OptimizedReport:
        """What `optimize --json` prints."""
        return optimized_report(self.path, self.bytes, self.model, self.assumed)


def optimize_model(
    model: str | Path,
    board: str | Path | Board,
    output: str | Path,
    *,
    name: str | None = None,
    session: Session | None = None,
    options: Options | None = None,
    compress: bool = False,
) -> Optimized:
    """Compiles a model up to its plan, and writes that into a file for `build`.

    output: ends in .pmx. name: of the network, where a build gives no other. compress: each
    constant by itself. Equal models and options give equal bytes. Raises an McuDeployError with a
    sentence for everything that can go wrong.
    """
    path = Path(output)
    if path.suffix.lower() != ".pmx":
        raise UsageError(f"{path} does not end in .pmx, so that `build` would not know its format.")
    require_writable(path, [Path(model)])
    target = board if isinstance(board, Board) else load_board(board)
    if options is not None and options.bound is not None:
        raise UsageError(
            "A .pmx file holds no network with a size that each run decides. Build it from the "
            "model itself, or give --shape numbers."
        )
    with session_or_own(session) as own:
        made = compiler.compile_model(model, target, name=name, session=own, options=options)
        tell_assumed(made.model.name, made.assumed)
        content = pmx.pack(made, own, compress=compress)
    write_file(path, content)
    return Optimized(path, len(content), made, made.assumed)
