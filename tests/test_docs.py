"""The pages of docs/ keep up with the program, and lead somewhere."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from conftest import ROOT
from typer.main import get_command

from attn_xl.cli import app

sys.path.insert(0, str(ROOT / "docs"))
import make_pages

DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
AGAIN = "run: python docs/make_pages.py"


def links(page: Path) -> list[str]:
    """What a page links to or shows, code left out."""
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    return re.findall(r"\]\(([^()\s]+(?:\([^()]*\))?)\)", text)


def anchors(page: Path) -> set[str]:
    """The headings of a page as GitHub names them."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    found: set[str] = set()
    for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE):
        words = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        found.add(
            next(name for n in range(99) if (name := f"{words}-{n}" if n else words) not in found)
        )
    return found


@pytest.mark.parametrize("source", sorted(make_pages.SOURCE.glob("*.md")), ids=lambda path: path.name)
def test_a_page_is_what_the_script_makes(source: Path) -> None:
    assert (DOCS / source.name).read_text(encoding="utf-8") == make_pages.page(source), AGAIN


def test_every_command_has_its_section_with_its_help() -> None:
    text = (DOCS / "commands.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^## attn-xl (\w+)\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE))
    assert sections.keys() == get_command(app).commands.keys()  # type: ignore[attr-defined]
    for name, section in sections.items():
        assert f"Usage: attn-xl {name} " in section
        assert f"Example:  attn-xl {name} " in section


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    for link in links(page):
        if re.match("https?://", link):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), f"{page.name}: {link}"
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), f"{page.name}: {link}"


def test_every_picture_is_shown_somewhere() -> None:
    shown = {(page.parent / link).resolve() for page in PAGES for link in links(page)}
    for picture in (*DOCS.glob("*.png"), *DOCS.glob("*.svg")):
        assert picture in shown, picture.name
