"""Makes the pictures of workbooks, as LibreOffice prints them: python docs/make_pictures.py

It makes those that are missing or out of date, and needs LibreOffice (soffice), poppler (pdftoppm,
pdftotext) and ImageMagick (convert). pictures.json keeps digests of their sources, so that a test can
tell without these programs that a picture is out of date.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import openpyxl
from examples import HERE, seen, workbook

sys.path.append(str(HERE.parent / "tests" / "engines"))
from engines import recalculated_by_libreoffice

RECORD = HERE / "pictures.json"


@dataclass(frozen=True)
class Picture:
    """Sheets below each other: the first page of each, or all pages, without margin and footer."""

    workbook: str
    sheets: tuple[str, ...]
    also: str = ""
    """Another workbook, whose first sheet stands below."""
    resolution: int = 130
    """Dots an inch."""
    footer: int = 85
    """Dots."""
    all_pages: bool = False
    beside: bool = False
    """The images stand side by side."""


PICTURES = {
    "canvas": Picture("canvas", ("Canvas",)),
    "canvas-heads": Picture("heads-canvas", ("Canvas",), all_pages=True),
    "compare": Picture("mouse-controls", ("Compare",)),
    "controls": Picture("mouse-controls", ("Overview",)),
    "encoder": Picture("encoder", ("Overview",)),
    "fill": Picture(
        "own-sheet", ("Two contexts",), "own-sheet-filled", resolution=75, footer=0, beside=True
    ),
    "grades": Picture("grades", ("Grades",), also="feedback"),
    "learning": Picture("learning", ("Loss", "Compare")),
    "lesson": Picture("lesson", ("Lesson", "Q")),
    "influences": Picture("compared-models", ("Influences", "Distances")),
    "new": Picture("new", ("Sentence", "W_Q")),
    "print": Picture("print", ("Input", "W_Q", "Softmax")),
    "similarity": Picture("similarity", ("Cosine", "Angle")),
    "softmax": Picture("mouse-controls", ("pets.Softmax",)),
    "step-input": Picture("mouse", ("pets.Input",)),
    "step-mask": Picture("masks", ("second.Mask", "second.Softmax")),
    "step-output": Picture("mouse", ("pets.Output",)),
    "step-projections": Picture("projections", ("Input", "W_Q", "Q")),
    "step-scaled": Picture("mouse", ("pets.Scaled",)),
    "step-scores": Picture("mouse", ("pets.Scores",)),
    "step-softmax": Picture("mouse", ("pets.Softmax",)),
    "vectors": Picture("vectors", ("Projected",)),
}


def names(pictures: Iterable[str]) -> list[str]:
    """The workbooks that these show."""
    both = ((PICTURES[name].workbook, PICTURES[name].also) for name in pictures)
    return sorted({name for pair in both for name in pair if name})


def sources(folder: Path) -> dict[str, Path]:
    """All workbooks that pictures show, made in a folder, by name."""
    return {name: workbook(name, folder) for name in names(PICTURES)}


def source_of(picture: Picture, books: dict[str, Path]) -> str:
    """A digest of all that decides how a picture looks."""
    parts = [repr(picture), seen(books[picture.workbook], picture.sheets)]
    if picture.also:
        parts.append(seen(books[picture.also], (_sheets(books[picture.also])[0],)))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def entry(name: str, books: dict[str, Path]) -> dict[str, str]:
    """What is kept of a picture: digests of what it is made of, and of itself."""
    drawn = HERE / f"{name}.png"
    itself = hashlib.sha256(drawn.read_bytes()).hexdigest() if drawn.exists() else ""
    return {"made of": source_of(PICTURES[name], books), "picture": itself}


def kept() -> dict[str, dict[str, str]]:
    """What was kept, by the names of the pictures."""
    return json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}


def _sheets(book: Path) -> list[str]:
    return list(openpyxl.load_workbook(book).sheetnames)


def pages(pdf: Path, sheets: list[str], sheet: str, picture: Picture) -> list[Path]:
    """The first page of a sheet, or all, as images. A page's footer begins with the name of its sheet;
    in a workbook without footers, only the first sheet may take several pages."""
    read = ["pdftotext", "-layout", str(pdf), "-"]
    text = subprocess.run(read, check=True, capture_output=True, text=True).stdout
    footers = [page.rstrip().rpartition("\n")[2] for page in text.split("\f")[:-1]]
    numbers = [n for n, footer in enumerate(footers, 1) if re.match(rf"{re.escape(sheet)}\s", footer)]
    if not numbers:
        assert len(footers) >= len(sheets), f"{pdf.name}: a sheet is empty"
        place = sheets.index(sheet)
        numbers = [1 + place + (len(footers) - len(sheets) if place else 0)]
    images = []
    for number in numbers if picture.all_pages else numbers[:1]:
        image = pdf.with_name(f"{pdf.stem}-{number}")
        which = ["-f", str(number), "-l", str(number), "-singlefile", "-r", str(picture.resolution)]
        subprocess.run(["pdftoppm", *which, "-png", pdf, image], check=True)
        images.append(image.with_suffix(".png"))
    return images


def draw(name: str, images: list[Path]) -> None:
    """Write a picture: pages below each other, without their margins and footers."""
    cut: list[object] = []
    for image in images:
        cut += ["(", image, "-gravity", "south", "-chop", f"0x{PICTURES[name].footer}", "-trim"]
        cut += ["-bordercolor", "white", "-border", "24x20", ")"]
    target = HERE / f"{name}.png"
    way = ("north", "+append") if PICTURES[name].beside else ("west", "-append")
    command = ["convert", *cut, "-gravity", *way, "-strip", "-colors", "64", target]
    subprocess.run([str(part) for part in command], check=True)


def main() -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        books = sources(folder)
        old = [name for name in PICTURES if kept().get(name) != entry(name, books)]
        copies = [folder / f"{name}.xlsx" for name in names(old)]
        for copy in copies:
            copy.write_bytes(books[copy.stem].read_bytes())
        printed = recalculated_by_libreoffice(copies, folder, "pdf") if copies else []
        pdfs = {pdf.stem: pdf for pdf in printed}
        for name in old:
            picture = PICTURES[name]
            shown = [(picture.workbook, sheet) for sheet in picture.sheets]
            if picture.also:
                shown.append((picture.also, _sheets(books[picture.also])[0]))
            images = [
                image
                for book, sheet in shown
                for image in pages(pdfs[book], _sheets(books[book]), sheet, picture)
            ]
            draw(name, images)
        record = {name: entry(name, books) for name in PICTURES}
    RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
