"""Dynamic backends: found while mcu-deploy runs, each in a worker process of its own.

`process.py` starts the workers, each with a process that watches it (`warden.py`). A worker
(`worker.py`) loads one shared object and calls its table of methods (`table.py`), of which
`structs.py`, `arguments.py` and `answers.py` know the C types of crt/include/mcu/backend.h. What
goes over the sockets between them is said in `wire.py`. The framework's side of it is `codec.py`
with its neighbours, and `adapter.py`, which makes a worker a `Backend`.

The modules that run in the wardens and in the workers import the standard library only, so that
a backend costs a build less than a tenth of a second.
"""
