"""Makes docs/ooxml-rules.md of the rules in the tests: python docs/make_rules.py"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
INTRODUCTION = """\
# What Excel asks of a workbook

If a file breaks one of these rules, Excel says "We found a problem with some content", or shows less
than was written. Every workbook that a test writes is checked against all of them
(`tests/validator/ooxml.py`), and so are all samples with every template, level and style,
unusual words, names and shapes. Each rule also has tests of its own: copies of a good workbook in which
one thing is broken, which that rule must notice.

    pytest tests/workbook/test_ooxml.py -k "caught and cell-style"

Excel itself is not among the programs tried; these rules come from what its makers have written.
*P1* and *P2* are ECMA-376 part 1 (with its transitional schemas) and part 2. *OI* is Microsoft's
[MS-OI29500], what Office requires beyond the standard, by the clause of part 1. *limits* is Microsoft's
list "Excel specifications and limits". `docs/make_rules.py` makes this page from the table in
`tests/validator/ooxml_rules.py`.
"""


def text() -> str:
    """The page."""
    sys.path.extend(map(str, (HERE.parent / "tests").glob("**")))
    from ooxml_broken import BROKEN
    from ooxml_rules import RULES

    lines = [INTRODUCTION]
    for group, rules in RULES.items():
        lines.append(f"## {group}\n\n| rule | it says | source | test |\n|---|---|---|---|")
        for rule, (says, source) in rules.items():
            copies = len(BROKEN.get(rule, ()))
            which = f"`{rule}-0`" if copies == 1 else f"`{rule}-0` to `-{copies - 1}`"
            test = f"`test_a_broken_copy_is_caught`, {which}" if copies else "`test_no_zip_is_caught`"
            lines.append(f"| `{rule}` | {says.replace('|', chr(92) + '|')} | {source} | {test} |")
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    (HERE / "ooxml-rules.md").write_text(text(), encoding="utf-8")
