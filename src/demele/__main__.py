"""``python -m demele`` is the program ``demele``: for environments whose scripts are not on the path."""

import signal
import sys


def run() -> int:
    """Run the program; Ctrl-C ends it without a word while it is still being loaded."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from demele.cli.main import main

    signal.signal(signal.SIGINT, before)
    return main()


if __name__ == "__main__":
    sys.exit(run())
