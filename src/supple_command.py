"""The ``supple`` command from its first moment on: beside the package, which takes seconds to import."""

import os
import signal
import sys
from typing import Any


def main() -> None:
    """Run the command; Ctrl-C gives 130 and one line, also while it is being imported."""
    heard = signal.getsignal(signal.SIGINT)
    if heard is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)  # nothing has been computed: nothing is lost
    from supple.cli.main import app

    signal.signal(signal.SIGINT, heard)
    app()


def _leave(*_: Any) -> None:
    sys.stderr.write("interrupted\n")
    sys.stderr.flush()
    os._exit(130)


if __name__ == "__main__":
    main()
