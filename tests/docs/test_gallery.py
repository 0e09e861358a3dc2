"""The gallery says what the examples check now, and keeps small pictures of all of them."""

from examples._gallery import DOCS, KEPT, LARGEST, names, page


def test_the_page_is_that_of_the_present_examples():
    need = "run python -m examples._gallery --page"
    assert (DOCS / "gallery.md").read_text() == page(), need


def test_pictures_are_small():
    pictures = list(KEPT.glob("*.png"))
    assert pictures
    assert max(picture.stat().st_size for picture in pictures) < LARGEST
    known = {name.replace("/", "-") for name in names()}
    assert {picture.stem for picture in pictures} <= known
