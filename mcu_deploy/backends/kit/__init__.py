"""What backends write kernels with: the text of C functions, their arguments, what they rely on.

Nothing in it knows a backend; `Kit` has the id and the folder of the one that uses it.
"""
