"""PMX: a compiled model in a file, as a FlatBuffer (document 002, "PMX"; docs/pmx.md).

What is saved is all that code generation needs: the optimised graph, who computes what, the chosen
workloads with their packed constants, and the plan.
"""

from mcu_deploy.pmx.compiled import BackendData, CompiledModel, decode, encode

__all__ = ["BackendData", "CompiledModel", "decode", "encode"]
