"""What a build says of itself: report.json, with the keys of DESIGN section 2; and --explain."""

from mcu_deploy.report.build import build_report, kept_model
from mcu_deploy.report.explain import explain
from mcu_deploy.report.memory import joint_arena

__all__ = ["build_report", "explain", "joint_arena", "kept_model"]
