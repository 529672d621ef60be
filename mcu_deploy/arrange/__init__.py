"""What a cover asks of the graph that it was applied to: where tensors lie, which are shown.

Layouts first (layouts.py), then one numbering for the graphs inside of graphs (flow.py), then the
tensors that the user asked for (exposing.py).
"""
