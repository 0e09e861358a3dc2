"""A run that plays in the cell of a notebook."""

import html

from supple.results.result import Result
from supple.view.drawing import drawing_of
from supple.view.page import page_of


class Player:
    """The page of a run; a notebook shows it in a frame of its own, without a server or network."""

    def __init__(self, page: str, height: int) -> None:
        self.page, self.height = page, height

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{html.escape(self.page)}" width="100%" height="{self.height}" '
            'style="border:1px solid #ddd"></iframe>'
        )


def show(
    result: Result, *, color: str = "curvature", frames: int = 150, height: int = 480
) -> Player:
    """The viewer in a notebook: make it the last line of a cell."""
    return Player(page_of(drawing_of(result, frames), color), height)
