"""The most stack that a network and a firmware use, proven from what gcc and the linker made.

`callgraph` reads what gcc says, `image` what was linked, `effects` what an instruction does to SP;
`frame` puts them together for a function, `bound` for a function with all that it calls, and
`programs` for the programs of a build. docs/stack.md has the whole story.
"""
