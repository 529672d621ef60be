"""The kernels, one file a family, found by themselves (`kit/families.py`)."""
