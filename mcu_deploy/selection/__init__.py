"""Of each node the workload that computes it, made by the backend that the cover names.

`choices.py` has the values; `making.py` gets them from the backends.
"""

from mcu_deploy.selection.choices import Choice, Chosen, Control, Selection, choices_within, every
from mcu_deploy.selection.making import Facts, select, unmade
