"""From C to bytes: compiler, archive, linker, and what can be read from the result."""
