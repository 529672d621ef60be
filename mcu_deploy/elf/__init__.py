"""Objects, archives and linked images, read into plain values, and their code, disassembled."""
