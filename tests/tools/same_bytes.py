"""Whether two versions of the program write the same workbooks, part by part.

    python tests/tools/same_bytes.py write FOLDER                # with the attn_xl that Python imports
    python tests/tools/same_bytes.py compare BEFORE AFTER        # names every part that differs

Every sample in every layout, formula style and template; lessons, answers, exams; similarity; learning;
a checkpoint.
"""

from __future__ import annotations

import sys
import zipfile
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from itertools import product
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
STYLES, LAYOUTS, TEMPLATES = ("cell", "array", "dynamic"), ("sheets", "canvas"), ("article", "print")


def calls() -> dict[str, list[str]]:
    """The command lines, by the name of the file each writes."""
    found: dict[str, list[str]] = {}
    for sample in sorted((ROOT / "samples").glob("*.xlsx")):
        stem, source = sample.stem, str(sample)
        if stem.endswith(("-attention", "-similarity", "-lesson")):
            continue
        for style, layout in product(STYLES, LAYOUTS):
            found[f"{stem}-{style}-{layout}"] = [
                "convert", source, "--formulas", style, "--layout", layout
            ]  # fmt: skip
        for template in TEMPLATES:
            found[f"{stem}-{template}"] = ["convert", source, "--template", template]
        found[f"{stem}-plain"] = ["convert", source, "--plain"]
        found[f"{stem}-lesson"] = ["teach", source]
        found[f"{stem}-exam"] = ["teach", source, "--exam"]
        found[f"{stem}-canvas-lesson"] = ["teach", source, "--layout", "canvas"]
        found[f"{stem}-similarity"] = ["similarity", source]
    learning = ["learn", str(ROOT / "samples" / "learning.xlsx")]
    for optimizer, style, layout in product(("sgd", "adam"), STYLES, ("layers", "canvas", "sheets")):
        found[f"learn-{optimizer}-{style}-{layout}"] = [
            *learning, "--steps", "4", "--optimizer", optimizer, "--formulas", style, "--layout", layout
        ]  # fmt: skip
    found["learn-long"] = [*learning, "--steps", "30", "--live", "5"]
    found["learn-20"] = [*learning, "--steps", "20", "--plain"]
    found["tiny-model"] = ["model", str(ROOT / "samples" / "tiny-model"), "the cat sat"]
    return found


def write(folder: Path) -> None:
    from attn_xl.cli.main import main

    folder.mkdir(parents=True, exist_ok=True)
    for name, call in calls().items():
        target = str(folder / f"{name}.xlsx")
        answers = ["--answers", str(folder / f"{name}-answers.xlsx")] if call[0] == "teach" else []
        said = StringIO()
        with redirect_stdout(said), redirect_stderr(said):
            try:
                main([*call, "-o", target, *answers, "--force"])
            except SystemExit as end:
                if end.code:
                    (folder / f"{name}.txt").write_text(said.getvalue(), encoding="utf-8")


def parts(path: Path) -> dict[str, bytes]:
    if path.suffix != ".xlsx":
        return {"": path.read_bytes()}
    with zipfile.ZipFile(path) as package:
        return {name: package.read(name) for name in package.namelist()}


def compare(before: Path, after: Path) -> int:
    """Print what differs; how many files do."""
    names = sorted({p.name for folder in (before, after) for p in folder.iterdir()})
    differing = 0
    for name in names:
        if not ((before / name).exists() and (after / name).exists()):
            print(f"{name}: only {'before' if (before / name).exists() else 'after'}")
            differing += 1
            continue
        old, new = parts(before / name), parts(after / name)
        different = [part for part in sorted({*old, *new}) if old.get(part) != new.get(part)]
        if different:
            print(f"{name}: {', '.join(different)}")
            differing += 1
    print(f"{len(names)} files, {differing} differ")
    return differing


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(Path(sys.argv[2]))
    else:
        sys.exit(bool(compare(Path(sys.argv[2]), Path(sys.argv[3]))))
