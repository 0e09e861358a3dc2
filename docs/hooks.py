"""Links out of docs/: they work in the repository as they are, and on the site by the pages made here.

Pages of the root (changelog, contributing) become pages of the site; a source file that is linked from
somewhere becomes a page that shows it.
"""

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[1]
PAGES = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "README.md": "index.md",
    "examples/README.md": "gallery.md",
}
"""Pages of the repository outside docs/, and where they are on the site."""
LINK = re.compile(r"\]\((?!\w+:|#|/)([^)#\s]+)(#[^)]*)?\)")
LANGUAGES = {".py": "python", ".yaml": "yaml", ".yml": "yaml", ".urdf": "xml", ".md": "markdown"}


def _outside(page: str, link: str) -> str | None:
    """What a link of a page of docs/ means, from the root of the repository; None if it stays inside."""
    target = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page), link))
    return None if target.startswith("docs/") else target


def _on_site(target: str) -> str:
    return PAGES.get(target, f"source/{target}.md")


def _from_root(link: str) -> str:
    return link.removeprefix("docs/") if link.startswith("docs/") else _on_site(link)


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that links lead to."""
    wanted: set[str] = set()
    for file in files.documentation_pages():
        for link, _ in LINK.findall(file.content_string):
            wanted.add(_outside(file.src_uri, link) or "")
    for target in sorted((wanted | {"CHANGELOG.md", "CONTRIBUTING.md"}) - {""}):
        place, path = _on_site(target), ROOT / target
        if files.get_file_from_path(place):
            continue
        if target in PAGES:
            content = LINK.sub(lambda m: f"]({_from_root(m[1])}{m[2] or ''})", path.read_text())
        elif path.is_dir():
            content = f"# `{target}`\n\n" + "".join(
                f"- `{child.name}`\n" for child in sorted(path.iterdir()) if child.name[0] != "_"
            )
        elif path.is_file():
            language = LANGUAGES.get(path.suffix, "text")
            content = f"# `{target}`\n\n````{language}\n{path.read_text()}\n````\n"
        else:
            continue  # a link to nothing: the strict build says where
        files.append(File.generated(config, place, content=content))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Lead links out of docs/ to the pages made for them."""
    here = page.file.src_uri

    def led(match: re.Match[str]) -> str:
        target = _outside(here, match[1])
        if target is None or page.file.generated_by is not None:
            return match[0]
        back = posixpath.relpath(_on_site(target), posixpath.dirname(here) or ".")
        return f"]({back}{match[2] or ''})"

    return LINK.sub(led, markdown)
