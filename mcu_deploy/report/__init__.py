"""What a build says of itself: report.json, with the keys of DESIGN section 2."""

from mcu_deploy.report.build import build_report, kept_model

__all__ = ["build_report", "kept_model"]
