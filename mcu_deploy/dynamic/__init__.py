"""Dynamic backends: found while mcu-deploy runs, each in a worker process of its own.

`process.py` starts the workers, each with a process that watches it (`warden.py`). A worker
(`worker.py`) loads one shared object and calls its table of methods (`table.py`) with what
`arguments.py` makes of a message; `answers.py` reads what comes back. Their structs are those of
crt/include/mcu/backend.h, which cffi reads (`declarations.py`). What goes over the sockets between
them is said in `wire.py`. The framework's side of it is `codec.py` and `offers.py`, with the forms
of values in `forms.py`, and `adapter.py`, which makes a worker a `Backend`.

The modules that run in the wardens and in the workers import the standard library only, and cffi's
compiled module, so that a backend costs a build less than a tenth of a second.
"""
