"""Makes docs/engines.md, for which it runs every engine: python docs/make_engines.py"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
INTRODUCTION = """\
# Which programs run which formulas

Every variant of attention, in every style of `--formulas`, recalculated by five spreadsheet engines.
Each engine gets the workbook with all stored values of its formulas corrupted, so that whatever it
returns, it has computed. The result is compared with the computation in Python, cell by cell. The
tables show the largest relative error in a workbook, rounded up to a power of ten; 1e-15 also stands
for anything smaller. Where large terms cancel, a number below a ten-thousandth of its sheet's largest
is compared as if it were that large. A letter means that the engine does not agree to 1e-12; the
reasons are listed below.

{versions}

HyperFormula reads no files. It gets the cells as they are typed, except that sheet names with a point
are quoted and defined names are replaced by their ranges, because it does not see how large a name is.
Its `ROW` of a range returns only the first row, so among words with * or ? it finds only the first,
which is the chosen one in these workbooks. `dynamic` is `array` with the mark that makes Excel 365
spill it; these engines ignore the mark. `ssconvert --recalc` runs Gnumeric.

`docs/make_engines.py` makes this page and needs all five engines; `tests/spreadsheets/test_engines.py`
compares it with those that are installed: by default with IronCalc, on every fourth workbook; with all
engines by

    pytest tests/spreadsheets/test_engines.py --thorough

HyperFormula is found after `npm install --global hyperformula`, or in the folder that `NODE_PATH`
names; pip installs `formulas`.
"""
UNKNOWN = "unexplained"
"""Of a case that does not run, and whose reason is not among the limits."""


def text(versions: Mapping[str, str], errors: Mapping[str, Mapping[Any, float]]) -> str:
    """The page: the versions of the engines, and their errors by variant and style."""
    from conftest import TOLERANCE
    from engine_cases import STYLES, VARIANTS
    from engine_matrix import LIMITS, rounded_up

    said = [f"{name} {version}" for name, version in versions.items()]
    lines = [INTRODUCTION.replace("{versions}", f"{', '.join(said[:-1])} and {said[-1]}.")]
    letters = {why: chr(97 + i) for i, why in enumerate(LIMITS)}
    for style in STYLES:
        lines.append(f"## {style.value}\n\n| | {' | '.join(versions)} |\n|---|{'---|' * len(versions)}")
        for variant in VARIANTS:
            cells = []
            for name in versions:
                error = errors[name][variant, style]
                good = error <= TOLERANCE
                cells.append(rounded_up(error) if good else letters.get((name, variant), UNKNOWN))
            lines.append(f"| {variant} | {' | '.join(cells)} |")
        lines.append("")
    lines.append("## What does not run\n")
    lines += [f"- {letters[why]}: {why[0]}, {why[1]}: {said}." for why, said in LIMITS.items()]
    return "\n".join([*lines, ""])


def main() -> None:
    sys.path.extend(map(str, (HERE.parent / "tests").glob("**")))
    from engine_cases import STYLES, VARIANTS, workbook
    from engine_matrix import ENGINES, measured

    versions = {name: engine.version() for name, engine in ENGINES.items()}
    missing = [name for name, version in versions.items() if not version]
    if missing:
        sys.exit(f"docs/engines.md is left as it is: {', '.join(missing)} is not installed.")
    errors = {}
    with tempfile.TemporaryDirectory() as folder:
        places = [(variant, style) for variant in VARIANTS for style in STYLES]
        cases = [workbook(*place, Path(folder)) for place in places]
        for name in ENGINES:
            out = Path(folder) / name
            out.mkdir()
            errors[name] = measured(name, cases, out)
            print(name, versions[name])
    page = text(versions, errors)
    (HERE / "engines.md").write_text(page, encoding="utf-8")
    if f" {UNKNOWN} |" in page:
        sys.exit("What is unexplained does not agree: say why in LIMITS of tests/engine_matrix.py.")


if __name__ == "__main__":
    main()
