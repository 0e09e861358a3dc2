"""The ``supple`` command from its first moment on: beside the package, which takes seconds to import."""

import os
import signal
import sys
from typing import Any


def main() -> None:
    """Run the command; Ctrl-C gives 130 and one line, also while it is being imported.

    Libraries that are imported on the way may swallow an interrupt. So it ends the process, until a command
    has something to keep and asks for it (``supple.cli.common.heed_interrupts``).
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, leave)
    from supple.cli.main import app

    app()


def leave(*_: Any) -> None:
    """End the process: nothing has been computed, nothing is lost."""
    sys.stderr.write("interrupted\n")
    sys.stderr.flush()
    os._exit(130)


if __name__ == "__main__":
    main()
