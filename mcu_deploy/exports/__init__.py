"""Networks as other ecosystems' tools take them: one module a format, found by being there.

A format is a folder or module of this package with two values and a function:

- `NAME`, what `--format` calls it;
- `ARCHIVE`, an `Archive` where it is one file, or None for a folder;
- `files(exported)`, a pure function from an `Exported` to the content of each file by its path:
  same input, same bytes. Raises RequestError for what the ecosystem cannot take.

What they share: `model` (the value that they get), `package` (what it is called and who it is
from), `parts` (headers, sources, and a program that runs each network on one sample), `rendering`
(templates), `packing` (archives).
"""
