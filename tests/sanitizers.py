"""The flags that make a program of gcc's end at its first mistake."""

# Without -fno-sanitize-recover the second of them prints what it found, and the program goes on.
SANITIZED = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
