"""`inspect` and `check` read every shape of formula, numbers typed as formulas among them."""

from __future__ import annotations

from pathlib import Path
from random import Random

import openpyxl
import pytest
from conftest import alike
from openpyxl.workbook.defined_name import DefinedName

from attn_xl.cli.main import main

LITERALS = ["1", "0.5", "-3", "1E5", "1e-3", "100%", "TRUE", '"a"', "#N/A", "PI()", "{1,2;3,4}"]
RANGES = [
    "B:B", "$B:$D", "2:3", "Sheet2!A1", "Sheet2!A1:B3", "'My Sheet'!B2", "Sheet:Sheet2!A1", "table[x]",
    "table[@x]", "table[#All]", "named", "B1#", "[1]Sheet1!A1", "(B1:B2,C1:C2)", "B1:C3 C2:D4",
    "unknown", "#REF!", "B1:INDEX(C1:C5,3)", "OFFSET(B1,1,1,2,2)", 'INDIRECT("B"&2)',
]  # fmt: skip
FUNCTIONS = ["SUM", "EXP", "MAX", "SQRT", "SUMPRODUCT", "MMULT", "TRANSPOSE", "IF", "CHOOSE", "INDEX"]
OPERATORS = ["+", "-", "*", "/", "^", "&", "=", "<", ">"]


def cell(chance: Random, row: int) -> str:
    dollars = chance.choice(["", "$"]), chance.choice(["", "$"])
    return f"{dollars[0]}{chance.choice('BCDE')}{dollars[1]}{row}"


def expression(chance: Random, row: int, depth: int = 0) -> str:
    """A formula by a grammar of what Excel accepts, and of some that it does not."""
    kind = chance.randrange(6 if depth > 2 else 11)
    inner = depth + 1
    if kind == 0:
        return chance.choice(LITERALS)
    if kind == 1:
        return cell(chance, row)
    if kind == 2:
        return f"SUM({cell(chance, row)}:{cell(chance, row)})"
    if kind == 3:
        return chance.choice(RANGES)
    if kind == 4:
        return f"{chance.choice('129')}{chance.choice('+-*')}{chance.choice('39')}"
    if kind == 5:
        return f"{cell(chance, row)}{chance.choice(OPERATORS)}{cell(chance, row)}"
    if kind == 6:
        sign = chance.choice([*OPERATORS, ":", ",", " "])
        return f"({expression(chance, row, inner)}){sign}{expression(chance, row, inner)}"
    if kind == 7:
        return f"-{expression(chance, row, inner)}"
    if kind == 8:
        return f"{expression(chance, row, inner)}%"
    arguments = [expression(chance, row, inner) for _ in range(chance.randrange(4))]
    return f"{chance.choice(FUNCTIONS)}({','.join(arguments)})"


def book(seed: int, path: Path) -> Path:
    """A table of words whose numbers are partly typed as formulas, beside columns of other formulas."""
    chance, made = Random(seed), openpyxl.Workbook()
    sheet = made.active
    sheet.title = "Sheet"
    made.defined_names["named"] = DefinedName("named", attr_text="Sheet!$B$1:$D$3")
    for name in ("Sheet2", "My Sheet"):
        for row in range(1, 6):
            made.create_sheet(name) if row == 1 else None
            made[name].append([row, row / 2])
    for row in range(1, 6):
        sheet.cell(row, 1, f"w{row}")
        for column in range(2, 6):
            sheet.cell(row, column, chance.choice([row / column, f"={row}", f"={row}+{column}", row]))
    for column in range(8, 14):
        seeded = chance.random()
        for row in range(1, 6):
            sheet.cell(row, column, f"={expression(Random(seeded), row)}")
    made.save(path)
    return path


@alike
@pytest.mark.parametrize("command", ["inspect", "check"])
@pytest.mark.parametrize("seed", range(100))
def test_any_formula_is_read(command: str, seed: int, tmp_path: Path) -> None:
    """With another range of seeds for a longer sweep."""
    with pytest.raises(SystemExit) as end:
        main([command, str(book(seed, tmp_path / "any.xlsx"))])
    assert end.value.code in (None, 0, 1, 3)


def test_a_number_typed_as_a_formula_beside_copies(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`=1` and `=A1` have one text, which once made the one read as the other."""
    made = openpyxl.Workbook()
    for row in range(1, 7):
        made.active.append([f"w{row}", f"={row}", f"=1+{row}", "=B1", f"=B{row}", f"=D{row}+E{row}"])
    made.save(tmp_path / "typed.xlsx")
    for command in ("inspect", "check"):
        with pytest.raises(SystemExit) as end:
            main([command, str(tmp_path / "typed.xlsx")])
        assert end.value.code in (None, 0, 1, 3)
    assert "Traceback" not in capsys.readouterr().err
