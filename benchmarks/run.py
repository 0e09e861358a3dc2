"""All benchmarks, a table each: ``make bench``; ``--full`` repeats more often."""

import sys

from supple.cli.main import app

if __name__ == "__main__":
    repeats = "9" if "--full" in sys.argv[1:] else "3"
    for bench in ("rods", "cpr", "actuation"):
        app(["bench", bench, "--repeats", repeats], standalone_mode=False)
