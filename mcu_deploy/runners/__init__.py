"""Programs that put a firmware into a chip: one module a tool, found by being there.

A module with a value RUNNER (a class) is one. This package knows neither boards nor devices, so
that boards can ask it which keys a table `[runners.<name>]` may have.
"""
