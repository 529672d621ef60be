"""What runs pipelines: a module for each, with its NAME and its PROVIDER.

Adding a file is all that adding one takes.
"""
