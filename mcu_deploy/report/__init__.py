"""What a build says of itself: report.json, with the keys of DESIGN section 2."""

from mcu_deploy.report.build import build_report

__all__ = ["build_report"]
