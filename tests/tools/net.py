"""Whether every kept sample still gives the same values, formulas and names.

    python tests/tools/net.py               # names every sheet that differs from the stored record
    python tests/tools/net.py --store       # writes the record anew, after a change that is meant

Each sheet is stored as a digest of its formulas with their cells, and one weighted sum of its numbers,
which is compared with a tolerance: machines differ in the last digits. Text is not compared.
"""

from __future__ import annotations

import json
import math
import re
import sys
import tempfile
import zipfile
from contextlib import redirect_stderr, redirect_stdout
from hashlib import blake2b
from io import StringIO
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent
STORED = ROOT / "tests" / "data" / "net.json"
_SHEET = re.compile(r'<sheet [^>]*?name="([^"]*)"')
_NAME = re.compile(r'<definedName name="([^"]*)"[^>]*>([^<]*)<')
_CELL = re.compile(r'<c r="([A-Z]+[0-9]+)"([^>]*?)(?:/>|>(.*?)</c>)', re.DOTALL)
_FORMULA = re.compile(r"<f\b[^>]*>([^<]*)</f>")
_VALUE = re.compile(r"<v>([^<]*)</v>")

Sheet = tuple[str, float, float]
"""A digest of the formulas, the weighted sum of the numbers, and the sum of their magnitudes."""


def calls() -> dict[str, list[str]]:
    """The command lines, by the name of the file each writes."""
    found: dict[str, list[str]] = {}
    samples = {path.stem: str(path) for path in sorted((ROOT / "samples").glob("*.xlsx"))}
    for stem, source in samples.items():
        if not stem.endswith(("-attention", "-similarity", "-lesson")):
            found[stem] = ["convert", source]
    for stem in ("mouse", "multi-head", "encoder-decoder"):
        for style in ("array", "dynamic"):
            found[f"{stem} {style}"] = ["convert", samples[stem], "--formulas", style]
        found[f"{stem} sheets"] = ["convert", samples[stem], "--layout", "sheets"]
        found[f"{stem} print"] = ["convert", samples[stem], "--template", "print"]
    found["similarity"] = ["similarity", samples["politics"]]
    learn = ["learn", samples["learning"]]
    found["learn"] = [*learn, "--steps", "4"]
    found["learn adam"] = [*learn, "--steps", "4", "--optimizer", "adam", "--layout", "sheets"]
    models = ["--models", "cnn", "rnn", "lstm", "gru", "attention"]
    found["compare"] = ["compare", samples["rnn"], *models]
    model = ["model", str(ROOT / "samples" / "tiny-model"), "--text", "the cat sat"]
    found["model"] = model
    found["model generate"] = [*model, "--generate", "2"]
    found["teach"] = ["teach", samples["by-hand"]]
    found["teach mouse"] = ["teach", samples["mouse"], "--level", "2"]
    found["show"] = ["show", samples["projections"], "--csv"]
    return found


def digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=6).hexdigest()


def sheet_record(xml: str) -> Sheet:
    """What is kept of one sheet."""
    formulas: list[str] = []
    total = magnitude = 0.0
    n = 0
    for place, attributes, inside in _CELL.findall(xml):
        if formula := _FORMULA.search(inside):
            formulas.append(f"{place}={formula[1]}")
        if 't="' not in attributes and (value := _VALUE.search(inside)):
            number, n = float(value[1]), n + 1
            total += number * math.cos(n)
            magnitude += abs(number)
    return digest("\n".join(formulas)), total, magnitude


def record(path: Path) -> dict[str, Any]:
    """Of a workbook: its defined names, and what is kept of each sheet by name."""
    with zipfile.ZipFile(path) as package:
        book = package.read("xl/workbook.xml").decode()
        sheets = {
            name: sheet_record(package.read(f"xl/worksheets/sheet{n}.xml").decode())
            for n, name in enumerate(_SHEET.findall(book), 1)
        }
    names = digest("\n".join(f"{name}: {place}" for name, place in sorted(_NAME.findall(book))))
    return {"names": names, "sheets": sheets}


def run(name: str, call: list[str], folder: Path) -> dict[str, Any]:
    """The record of what one call writes or prints."""
    from attn_xl.cli.main import main

    said, target = StringIO(), folder / f"{name.replace(' ', '-')}.xlsx"
    output = [] if call[0] == "show" else ["-o", str(target)]
    with redirect_stdout(said), redirect_stderr(StringIO()) as errors:
        try:
            main([*call, *output])
        except SystemExit as end:
            if end.code:
                return {"error": errors.getvalue()}
    return record(target) if output else {"names": digest(said.getvalue()), "sheets": {}}


def differences(name: str, before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """One line for each thing that differs."""
    if "error" in after:
        return [f"{name}: {after['error'].strip()}"]
    found = [f"{name}: names differ"] if before["names"] != after["names"] else []
    old, new = before["sheets"], after["sheets"]
    found += [
        f"{name}: {sheet} only {'before' if sheet in old else 'after'}" for sheet in {*old} ^ {*new}
    ]
    for sheet in old.keys() & new.keys():
        (formulas, total, magnitude), (others, other, _) = old[sheet], new[sheet]
        if formulas != others:
            found.append(f"{name}: {sheet}: formulas differ")
        if abs(total - other) > 1e-9 * magnitude:
            found.append(f"{name}: {sheet}: numbers differ")
    return found


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        made = {name: run(name, call, Path(folder)) for name, call in calls().items()}
    if "--store" in sys.argv:
        text = json.dumps(made, separators=(",", ":"))
        STORED.write_text(text.replace("},", "},\n") + "\n", encoding="utf-8")
        return 0
    stored = json.loads(STORED.read_text(encoding="utf-8"))
    found = [f"{name}: no longer made" for name in stored.keys() - made.keys()]
    found += [f"{name}: not stored" for name in made.keys() - stored.keys()]
    for name in stored.keys() & made.keys():
        found += differences(name, stored[name], made[name])
    print("\n".join(sorted(found)))
    print(f"{len(made)} calls, {len(found)} differences")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
