"""What ArmDsp proposes for the layers of a model."""

from __future__ import annotations

from pathlib import Path

from mcu_deploy import formats, passes
from mcu_deploy.backends.ArmDsp import ArmDsp
from mcu_deploy.backends.interface import Proposals, Target
from mcu_deploy.ir.view import view_of_all

M4 = Target("cortex-m4", fpu=True, dsp=True)


def proposals_for(path: Path, target: Target = M4) -> Proposals:
    """As ArmDsp answers for the whole of a model, simplified."""
    return ArmDsp().propose(view_of_all(passes.run(formats.load(path))), target)
