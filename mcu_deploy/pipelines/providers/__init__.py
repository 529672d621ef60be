"""What runs pipelines: a module for each, with its PROVIDER.

Adding a file is all that adding one takes.
"""

from mcu_deploy.discovery import names

NAMES = names(__path__)
