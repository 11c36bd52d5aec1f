"""Makes the pictures of the README: python docs/make_pictures.py

They show real output: workbooks as LibreOffice prints them, and what `attn-xl show` prints. Needs
LibreOffice (soffice), pdftoppm (poppler) and convert (ImageMagick).
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import openpyxl

import attn_xl
from attn_xl import terminal
from attn_xl.engines import recalculated_by_libreoffice
from attn_xl.settings import Arrangement
from attn_xl.teaching import write_lesson

HERE = Path(__file__).parent
SAMPLES = HERE.parent / "samples"


def pages(
    sample: str, template: str, folder: Path, arrangement: str = "sheets", resolution: int = 130
) -> dict[str, Path]:
    """The printed pages of a sample's workbook, as `convert` writes it, by sheet."""
    book = folder / f"{sample}-{template}-{arrangement}.xlsx"
    tables = attn_xl.read_tables(SAMPLES / f"{sample}.xlsx")
    given = {"layout": Arrangement(arrangement), "controls": True}
    settings = attn_xl.Settings.chosen(given, tables.settings, sample)
    layout = attn_xl.write_workbook(
        attn_xl.attend(tables, settings),
        book,
        template=template,
        settings=settings,
        source=f"{sample}.xlsx",
    )
    return printed(book, folder, ["Overview", *(sheet.name for sheet in layout.sheets)], resolution)


def printed(book: Path, folder: Path, sheets: list[str], resolution: int = 130) -> dict[str, Path]:
    """The first page of each sheet; the last ones are told from the end, since the Overview may take
    several."""
    (pdf,) = recalculated_by_libreoffice([book], folder, "pdf")
    subprocess.run(["pdftoppm", "-r", str(resolution), "-png", pdf, folder / book.stem], check=True)
    made = sorted(folder.glob(f"{book.stem}-*.png"))
    assert len(made) >= len(sheets)
    return {sheets[0]: made[0], **dict(zip(sheets[:0:-1], made[::-1]))}


def half_done(folder: Path) -> dict[str, Path]:
    """The pages of a lesson in which a student has come to the scores, with one slip in the keys."""
    book, key = folder / "lesson.xlsx", folder / "key.xlsx"
    layout = write_lesson(attn_xl.read_tables(SAMPLES / "by-hand.xlsx"), book, answers=key)
    lesson, answers = openpyxl.load_workbook(book), openpyxl.load_workbook(key, data_only=True)
    for name in ("Q", "K", "V", "Scores"):
        for row in lesson[name].iter_rows(min_row=5, max_row=6 if name == "Scores" else None):
            for cell in row:
                if not cell.protection.locked:
                    cell.value = answers[name][cell.coordinate].value
    lesson["K"]["C6"] = 2
    lesson["Lesson"]["B4"] = "Ada Lovelace"
    filled = folder / "filled.xlsx"
    lesson.save(filled)
    sheets = [sheet.name for sheet in layout.sheets]
    return printed(filled, folder, ["Lesson", "Overview", *sheets])


def picture(name: str, images: list[Path], footer: int = 85) -> None:
    """The pages below each other, without their margins and footers."""
    cut: list[object] = []
    for image in images:
        cut += [
            "(",
            image,
            "-gravity",
            "south",
            "-chop",
            f"0x{footer}",
            "-trim",
            "-bordercolor",
            "white",
        ]
        cut += ["-border", "24x20", ")"]
    target = HERE / f"{name}.png"
    command = ["convert", *cut, "-gravity", "west", "-append", "-strip", "-colors", "64", target]
    subprocess.run([str(part) for part in command], check=True)


def class_marked(folder: Path) -> list[Path]:
    """The grades of a small class with some mistakes, and the feedback to one of them."""
    import openpyxl

    from attn_xl.classes import write_class
    from attn_xl.grade_sheets import grades_layout
    from attn_xl.gradebook import grade_class
    from attn_xl.keys import read_keys
    from attn_xl.lessons import Lesson
    from attn_xl.settings import Settings
    from attn_xl.workbook import write_layout

    tables = attn_xl.read_tables(SAMPLES / "by-hand.xlsx")
    settings = Settings.chosen({"controls": True}, tables.settings, "")
    lessons = folder / "class"
    _, key = write_class(tables, SAMPLES / "class.csv", lessons, settings=settings, lesson=Lesson())
    keys = read_keys(key)
    for number, student in enumerate(keys.students):
        book = openpyxl.load_workbook(lessons / student.file)
        for cell, value in keys.keys[student.id].answers.items():
            sheet, _, there = cell.rpartition("!")
            if number == 1 and sheet == "Scaled":
                value = value / 2  # divided by d_k = 4 in place of its root
            if number == 1 and sheet == "Scores" and there == "C6":
                value += 1
            if number == 2 and sheet in ("Softmax", "Output"):
                continue
            if number == 0 and sheet == "Softmax":
                value = f"{value:.3f}".replace(".", ",")
            book[sheet][there] = value
        if number == 3:
            continue
        book.save(lessons / student.file)
    (lessons / keys.students[3].file).unlink()
    found = grade_class([lessons], answers=key, feedback=folder / "feedback")
    grades = folder / "grades.xlsx"
    write_layout(grades_layout(found), grades)
    books = [grades, folder / "feedback" / keys.students[1].file]
    made = []
    for book, pdf in zip(books, recalculated_by_libreoffice(books, folder, "pdf")):
        subprocess.run(
            ["pdftoppm", "-r", "130", "-l", "1", "-png", pdf, folder / book.stem], check=True
        )
        made.append(next(iter(sorted(folder.glob(f"{book.stem}-*.png")))))
    return made


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        mouse = pages("mouse", "article", Path(name))
        picture("overview", [mouse["Overview"]])
        picture("softmax", [mouse["cat.Softmax"]])
        picture("compare", [mouse["Compare"]])
        picture("controls", [mouse["Controls"]])
        weights = pages("projections", "print", Path(name))
        picture("print", [weights["Input"], weights["W_Q"], weights["Softmax"]])
        picture("encoder", [pages("encoder", "article", Path(name))["Overview"]])
        picture("canvas", [pages("projections", "article", Path(name), "canvas")["Canvas"]])
        heads = pages("multi-head", "article", Path(name), "canvas", 250)
        picture("canvas-heads", [heads["Canvas"]], 165)
        lesson = half_done(Path(name))
        picture("lesson", [lesson["Lesson"], lesson["K"]])
        picture("grades", class_marked(Path(name)))
    computation = attn_xl.attend(attn_xl.read_tables(SAMPLES / "mouse.xlsx"))
    # What it prints in a terminal
    shown = terminal.svg(computation, steps=["Scores", "Softmax", "Output"], sheet="cat")
    (HERE / "show.svg").write_text(shown, encoding="utf-8")


if __name__ == "__main__":
    main()
