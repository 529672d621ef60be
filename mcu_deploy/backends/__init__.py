"""Backends: each a folder here with a Python module that makes workloads and its C templates."""
