"""mcu-deploy: neural networks, compiled ahead of time into one object file for Arm Cortex-M."""

__version__ = "0.1.0"
