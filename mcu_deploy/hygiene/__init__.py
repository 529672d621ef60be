"""Proves that objects are safe to link: beside other code, beside other models, on their core.

`check_object` is what the compiler calls after each build; `check_files` is `mcu-deploy check`.
The rules are described one by one in docs/check.md.
"""

from mcu_deploy.hygiene.checker import check_files, check_object
from mcu_deploy.hygiene.findings import CheckReport, FileReport, Finding, ImagePart
