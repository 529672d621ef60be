"""Everything that runs in a process of its own, with limits, and never outlives us.

`programs`: other programs, run to their end. `background`: programs that run beside us.
`contained`: calls of Python functions that may crash or never end.
"""
