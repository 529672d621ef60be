"""What a build says of itself: report.json, with its keys; and --explain."""

from mcu_deploy.report.build import build_report, kept_costs, kept_model, optimized_report
from mcu_deploy.report.explain import explain
from mcu_deploy.report.memory import joint_arena
from mcu_deploy.report.model import LayerReport, NetworkReport
from mcu_deploy.report.places import TensorReport
from mcu_deploy.report.whole import OptimizedReport, Report, read
