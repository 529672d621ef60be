"""mru: the most recently freed block that is large enough (document 002)."""

from mcu_deploy.plan.managers.blocks import BlockConfiguration

NAME = "mru"
CONFIGURATIONS = (BlockConfiguration(nearest=False),)
