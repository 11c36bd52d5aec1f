"""The pages of docs/ keep up with the program, and lead somewhere."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import openpyxl
import pytest
from conftest import ROOT, SAMPLES, alike, thorough

from attn_xl.cli import commands
from attn_xl.cli.main import main

sys.path.insert(0, str(ROOT / "docs"))
import examples
import make_pages
import make_pictures

DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
COMMANDS: dict[str, Any] = {name: commands.load(name) for name in commands.COMMANDS}
AGAIN = "What the program prints or writes has changed. Run python docs/make_pages.py"
DRAWN_AGAIN = "What the picture shows has changed. Run python docs/make_pictures.py"


def code_left_out(page: Path) -> str:
    return re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)


def links(page: Path) -> list[str]:
    """What a page links to or shows."""
    text = re.sub(r"(?<!\[)`[^`\n]*`", "", code_left_out(page))
    return re.findall(r"\]\(([^()\s]+)\)", text)


@cache
def anchors(page: Path) -> frozenset[str]:
    """The headings of a page as GitHub names them."""
    found: set[str] = set()
    for heading in re.findall(r"^#+ (.*)$", code_left_out(page), re.MULTILINE):
        name = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        found.add(next(one for n in range(99) if (one := f"{name}-{n}" if n else name) not in found))
    return frozenset(found)


@cache
def book(path: Path) -> Any:
    return openpyxl.load_workbook(path)


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


def drawn_here(kept: str) -> bool:
    """Whether what drew frames and wrote types in a page or a picture is what does it here."""
    return os.name == "posix" and (", with " not in kept.partition("\n")[0] or make_pages.WITH in kept)


@pytest.mark.parametrize("source", sorted(make_pages.SOURCE.glob("*.md")), ids=lambda path: path.name)
def test_a_page_is_what_the_script_makes(source: Path) -> None:
    assert make_pages.page(source) == (DOCS / source.name).read_text(encoding="utf-8"), AGAIN


@alike
@pytest.mark.parametrize("name", make_pages.TERMINALS)
def test_a_picture_of_a_terminal_is_what_the_script_makes(name: str) -> None:
    kept = (DOCS / f"{name}.svg").read_text(encoding="utf-8")
    made = make_pages.terminal(name)
    said = [words("".join(ElementTree.fromstring(svg).itertext())) for svg in (made, kept)]
    assert said[0] == said[1], AGAIN
    assert made == kept or not drawn_here(kept), AGAIN
    assert not re.search(r"url\((?!#)|href|@import", kept), "it would load something from elsewhere"


def test_every_command_has_its_section_with_a_call() -> None:
    text = (DOCS / "commands.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^## attn-xl (\w+)\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE))
    assert sections.keys() == COMMANDS.keys()
    for name, section in sections.items():
        assert re.search(rf"^(    |\$ )attn-xl {name} ", section, re.MULTILINE)


@thorough
def test_the_example_in_the_help_of_each_command_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    written = shutil.ignore_patterns("*-attention.*", "*-similarity.*", "*-lesson.*", "*-class*")
    shutil.copytree(SAMPLES, "samples", ignore=written)  # a user's clone has what convert wrote there

    def run(arguments: str) -> None:
        with pytest.raises(SystemExit) as end:
            main(shlex.split(arguments))
        assert not end.value.code, f"{arguments}: {capsys.readouterr().err}"

    # What the examples of grade and check take for given
    run("teach samples/by-hand.xlsx --roster samples/class.csv -o class --answers class-answers.xlsx")
    Path("homework").mkdir()
    run("convert samples/politics.xlsx -o homework/one.xlsx")
    for name, command in COMMANDS.items():
        example = command.epilog.replace("\\", "").removeprefix("Example:  attn-xl ")
        assert example.startswith(f"{name} ")
        run(example)


@alike
@pytest.mark.parametrize("name", examples.QUOTED)
def test_a_workbook_that_is_linked_to_is_what_the_program_writes(name: str, tmp_path: Path) -> None:
    made = examples.workbook(name, tmp_path)
    assert examples.seen(made) == examples.seen(examples.LINKED / f"{name}.xlsx"), AGAIN


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The workbooks of the pictures, made now."""
    return make_pictures.sources(tmp_path_factory.mktemp("shown"))


@thorough
def test_pictures_of_workbooks_are_of_what_the_program_writes(shown: dict[str, Path]) -> None:
    assert make_pictures.kept().keys() == make_pictures.PICTURES.keys()
    for name, record in make_pictures.kept().items():
        assert record == make_pictures.entry(name, shown), f"{name}.png: {DRAWN_AGAIN}"


@thorough
def test_what_is_seen_of_a_workbook_changes_with_it(tmp_path: Path) -> None:
    kept = examples.LINKED / "mouse.xlsx"
    before = examples.seen(kept, ("pets.Scores",))

    def changed(sheet: str, cell: str, value: object) -> str:
        edited = openpyxl.load_workbook(kept)
        edited[sheet][cell] = value
        edited.save(tmp_path / "edited.xlsx")
        return examples.seen(tmp_path / "edited.xlsx", ("pets.Scores",))

    same = changed("pets.Scores", "B5", book(kept)["pets.Scores"]["B5"].value)
    assert changed("pets.Scores", "B5", 7.62) != same
    assert changed("pets.Scores", "B5", 7.620001) != changed("pets.Scores", "B5", 7.62)
    assert changed("pets.Scores", "B5", 7.6199999999999) == changed("pets.Scores", "B5", 7.62)
    assert examples.seen(kept, ("pets.Scaled",)) != before


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
        if anchor and target.suffix == ".xlsx":
            sheet, _, cell = anchor.partition("!")
            assert sheet in book(target), f"{page.name}: {link}"
            assert book(target)[sheet][cell].value is not None, f"{page.name}: {link}"


def test_every_picture_and_every_page_is_linked_to() -> None:
    linked = {
        (page.parent / link.partition("#")[0]).resolve() for page in PAGES for link in links(page)
    }
    for path in (
        *DOCS.glob("*.png"),
        *DOCS.glob("*.svg"),
        *DOCS.glob("*.md"),
        *examples.LINKED.iterdir(),
    ):
        assert path in linked, path.name
