"""The flags that make a program of gcc's end at its first mistake."""

SANITIZED = (
    "-fsanitize=address,undefined",
    # Without it the second of them prints what it found, and the program goes on.
    "-fno-sanitize-recover=all",
    # What their libraries want of libstdc++ is not looked up: half of what linking takes.
    "-Wl,--unresolved-symbols=ignore-in-shared-libs",
)
