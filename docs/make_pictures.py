"""Makes the pictures of the README: python docs/make_pictures.py

They show real output: workbooks as LibreOffice prints them, and what `attn-xl show` prints. Needs
LibreOffice (soffice), pdftoppm (poppler) and convert (ImageMagick).
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import attn_xl
from attn_xl import terminal
from attn_xl.engines import recalculated_by_libreoffice
from attn_xl.settings import Arrangement

HERE = Path(__file__).parent
SAMPLES = HERE.parent / "samples"


def pages(
    sample: str, template: str, folder: Path, arrangement: str = "sheets", resolution: int = 130
) -> list[Path]:
    """The printed pages of a sample's workbook."""
    book = folder / f"{sample}-{template}-{arrangement}.xlsx"
    settings = attn_xl.Settings(layout=Arrangement(arrangement))
    tables = attn_xl.read_tables(SAMPLES / f"{sample}.xlsx")
    layout = attn_xl.write_workbook(
        attn_xl.attend(tables), book, template=template, settings=settings, source=f"{sample}.xlsx"
    )
    (pdf,) = recalculated_by_libreoffice([book], folder, "pdf")
    subprocess.run(["pdftoppm", "-r", str(resolution), "-png", pdf, folder / book.stem], check=True)
    made = sorted(folder.glob(f"{book.stem}-*.png"))
    assert len(made) > len(layout.sheets)
    return made


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


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        article = pages("mouse", "article", Path(name))
        picture("overview", article[:1])
        picture("softmax", [article[7]])
        picture("compare", [article[-1]])
        weights = pages("projections", "print", Path(name))
        picture("print", [weights[1], weights[2], weights[9]])
        layers = pages("encoder", "article", Path(name))
        picture("encoder", [layers[0]])
        picture("canvas", pages("projections", "article", Path(name), "canvas")[-1:])
        picture("canvas-heads", pages("multi-head", "article", Path(name), "canvas", 250)[-1:], 165)
    computation = attn_xl.attend(attn_xl.read_tables(SAMPLES / "mouse.xlsx"))
    # What it prints in a terminal
    shown = terminal.svg(computation, steps=["Scores", "Softmax", "Output"], sheet="cat")
    (HERE / "show.svg").write_text(shown, encoding="utf-8")


if __name__ == "__main__":
    main()
