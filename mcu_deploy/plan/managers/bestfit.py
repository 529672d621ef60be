"""bestfit: the free block whose size is nearest to what is asked for (document 002)."""

from mcu_deploy.plan.managers.blocks import BlockConfiguration

NAME = "bestfit"
CONFIGURATIONS = (BlockConfiguration(nearest=True),)
