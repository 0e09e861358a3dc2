"""All benchmarks in one table: ``make bench``; ``--full`` repeats more often."""

import sys

from supple.cli.main import app

if __name__ == "__main__":
    repeats = "9" if "--full" in sys.argv[1:] else "3"
    app(["bench", "rods", "--repeats", repeats])
