"""One spelling everywhere, the American one, as in the libraries that users know."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BRITISH = re.compile(
    "colo"
    + "ur|cent"
    + "re|gre"
    + "y|neighb"
    + "our|behavi"
    + "our|label"
    + "led|travel"
    + r"l[ei]|"
    r"\b\w*met"
    + r"res?\b|fib"
    + "re|lineari"
    + "s|optimi"
    + "s[ei]|generali"
    + "s[ei]|normali"
    + "s[ei]",
    re.I,
)
PLACES = ("src", "tests", "examples", "benchmarks", "docs", "README.md", "CONTRIBUTING.md")
TEXTS = {".py", ".md", ".js", ".css", ".html", ".yaml"}
MEANT = {
    "src/supple/spelling.py",  # answers other spellings
    "src/supple/cli/viewing.py",  # knows --color by its old name, too
    "docs/misprints.md",  # quotes
}


def test_words_are_spelt_in_one_way():
    found = []
    for place in PLACES:
        root = ROOT / place
        for path in [root] if root.is_file() else sorted(root.rglob("*")):
            name = path.relative_to(ROOT).as_posix()
            if path.suffix not in TEXTS or name in MEANT or not path.is_file():
                continue
            found += [f"{name}: {word}" for word in sorted(set(BRITISH.findall(path.read_text())))]
    assert found == []
