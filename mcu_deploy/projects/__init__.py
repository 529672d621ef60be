"""Firmware projects to begin with: what `mcu-deploy new` writes."""
