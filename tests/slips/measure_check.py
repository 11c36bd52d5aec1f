"""Measures how many planted slips `check` finds, and how many of its reports are right.

    PYTHONPATH=. python tests/slips/measure_check.py [--each N] [--seed S] [--show]

Slips of every kind are planted at random in what `attn-xl` writes for every sample, as sheets and as a
canvas; the values are recalculated, so that only formulas tell.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.extend(map(str, Path(__file__).parents[1].glob("**")))

import planting
from conftest import SAMPLES
from make_slips import recalculated

import attn_xl
from attn_xl.spreadsheets.formulas import read_formulas
from attn_xl.spreadsheets.ranges import spans
from attn_xl.workbook.write import write_workbook


def written(folder: Path, sample: Path, canvas: bool) -> Path:
    """What `attn-xl convert` makes of a sample."""
    tables = attn_xl.read_tables(sample)
    settings = attn_xl.Settings.resolve({"canvas": canvas}, tables.settings, "")
    path = folder / f"{sample.stem}-{'canvas' if canvas else 'sheets'}.xlsx"
    write_workbook(attn_xl.attend(tables, settings), path, settings=settings)
    return path


def main() -> None:
    asked = argparse.ArgumentParser()
    asked.add_argument("--each", type=int, default=2, help="slips of each kind in each workbook")
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--show", action="store_true", help="print what is missed and what is wrong")
    asked.add_argument("--kind", default="")
    asked.add_argument("--sample", default="")
    asked.add_argument("--fast", action="store_true", help="do not recalculate")
    given = asked.parse_args()
    planted: Counter[str] = Counter()
    found: Counter[str] = Counter()
    reports, right = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for sample in sorted(SAMPLES.glob("*.xlsx")):
            if given.sample and given.sample not in sample.stem:
                continue
            for canvas in (False, True):
                book = read_formulas(written(Path(folder), sample, canvas))
                chance = random.Random(f"{given.seed} {sample.stem} {canvas}")
                places = planting.Places(book, chance)
                clean = planting.looked_over(book)
                if bad := [f for f in clean if f.severity != "note"]:
                    print("clean:", sample.stem, canvas, *bad[:3], sep="\n   ")
                for kind in planting.KINDS:
                    if given.kind and given.kind != kind.__name__:
                        continue
                    for _ in range(given.each):
                        try:
                            slip = kind(places)
                        except planting.Nowhere:
                            break
                        changed = slip.book
                        if not given.fast:
                            changed = recalculated(changed, Path(folder) / "planted.xlsx")
                        alarms = [f for f in planting.looked_over(changed) if f.severity != "note"]
                        hits = [f for f in alarms if slip.named(f)]
                        planted[kind.__name__] += 1
                        found[kind.__name__] += bool(hits)
                        reports += len(alarms)
                        right += len(hits)
                        if given.show and not hits:
                            print("MISSED", kind.__name__, sample.stem, canvas, _where(slip, book))
                        for alarm in alarms if given.show else []:
                            if not slip.named(alarm):
                                print(
                                    "WRONG",
                                    kind.__name__,
                                    sample.stem,
                                    canvas,
                                    _where(slip, book),
                                    "->",
                                    alarm.sheet,
                                    alarm.cells[:60],
                                    alarm.kind,
                                    alarm.what[:160],
                                )
    for name in planted:
        print(f"{name:12} {found[name]:4} of {planted[name]:4}  {found[name] / planted[name]:6.1%}")
    every = sum(planted.values())
    print(f"found {sum(found.values())} of {every} ({sum(found.values()) / every:.1%})")
    print(f"right {right} of {reports} reports ({right / max(reports, 1):.1%})")


def _where(slip: planting.Planted, book: planting.FormulaBook) -> str:
    name, cells = slip.own
    texts = []
    for sheet in (book.sheets[name], slip.book.sheets[name]):
        (place,) = sheet.find(planting.np.array([min(cells)])).tolist()
        of = slip.book if sheet is slip.book.sheets[name] else book
        formula = int(sheet.formulas[place]) if place >= 0 else -1
        texts.append(of.formulas[formula].text if formula >= 0 else "typed")
    return f"{name}!{spans(planting.np.array(sorted(cells)))[:40]} {texts[0]} => {texts[1]}"


if __name__ == "__main__":
    main()
