"""Dynamic backends: found while mcu-deploy runs, each in a worker process of its own.

`process.py` starts and watches the workers, through the fork server in `nursery.py`. A worker
(`worker.py`) loads one shared object and calls its table of methods (`table.py`), of which
`structs.py`, `arguments.py` and `answers.py` know the C types of crt/include/mcu/backend.h. What
goes over the sockets between them is said in `wire.py`. The framework's side of it is `codec.py`
with its neighbours, and `adapter.py`, which makes a worker a `Backend`.

The modules that run in the nursery and in the workers import the standard library only, so that
twenty backends cost a build a fraction of a second.
"""
