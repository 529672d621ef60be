"""Networks as other ecosystems' tools take them: one module a format, found by being there.

A format is a folder or module of this package with three values and a function:

- `NAME`, what `--format` calls it, and `DESCRIPTION`, one sentence of it;
- `ARCHIVE`, the name of the file where it is one ("{name}.tar": {name} and {version} of the
  `Exported`), or an empty text for a folder;
- `files(exported)`, a pure function from an `Exported` to the content of each file by its path:
  same input, same bytes. Raises RequestError for what the ecosystem cannot take.

What they share: `model` (the value that they get), `parts` (headers, sources, and a program that
runs each network on one sample), `rendering` (templates), `packing` (archives).
"""
