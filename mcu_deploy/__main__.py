"""The start of the program: `mcu-deploy`, and `python -m mcu_deploy`."""

import atexit
import gc
import os
import signal


def main() -> None:
    """Loads the command line, which takes a moment, and calls it.

    Before it is there nothing is begun, so that Ctrl-C may end the process without a word.
    """
    is_usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_usual:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    # What a compile leaves is the system's to take back: to look it through for cycles once more
    # takes a thirteenth of a build.
    atexit.register(gc.freeze)
    # Before numpy is imported: on layers of this size more threads of its linear algebra wait for
    # each other, a fifth to a third of a build's processor time.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from mcu_deploy import cli

    if is_usual:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    cli.main()


if __name__ == "__main__":
    main()
