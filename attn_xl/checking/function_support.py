"""Lists of volatile functions and of functions that some spreadsheet programs lack.

Sources: for the version of Excel that introduced a function, Microsoft, "Excel functions
(alphabetical)" and "Lookup and reference functions (reference)", support.microsoft.com, by their
version markers, and the list of future functions in the documentation of XlsxWriter, "Working with
Formulas"; LibreOffice, the release notes of 24.8 and 25.8 and the history of sc/inc/scfuncs.hrc;
Google, "Google Sheets function list", support.google.com/docs/table/25273; Apple, "What's new in
Numbers" of 14.4 and "Formulas and Functions Help"; Gnumeric, tested in 1.12.55, which returns #NAME?.
The lists are limited to what these sources state; other functions may be missing in some programs as
well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from attn_xl.spreadsheets.blocks.templates import names

VOLATILE = names("NOW TODAY RAND RANDBETWEEN RANDARRAY OFFSET INDIRECT CELL INFO")
"""Functions that are recalculated whenever anything changes."""
_PROGRAM = re.compile(r"^(\S.*):\n((?: .*\n)*)", re.MULTILINE)
"""A program and the functions that it lacks, according to its makers or to a test."""


def lacking(functions: Iterable[str]) -> dict[str, list[str]]:
    """The programs that lack each function, by `lacking.txt`; functions that no program lacks are left
    out.

    Of the versions of Excel, only the newest one that lacks it is named, as "Excel 2016 and older".
    """
    lists = _PROGRAM.findall(Path(__file__).with_name("lacking.txt").read_text(encoding="utf-8"))
    found: dict[str, list[str]] = {}
    for function in sorted(set(functions)):
        programs = [program for program, lacks in lists if function in lacks.split()]
        if programs:
            found[function] = [f"{p} and older" if p.startswith("Excel 201") else p for p in programs]
    return found
