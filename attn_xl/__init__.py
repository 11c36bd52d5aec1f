"""Attention, step by step, as live spreadsheet formulas.

import attn_xl
tables = attn_xl.read_tables("samples/mouse.xlsx")
computation = attn_xl.attend(tables)
computation["cat"]["Softmax"].values
attn_xl.write_workbook(computation, "mouse-attention.xlsx")
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from .arithmetic import Matrix, given
    from .attention import compare, scaled_dot_product_attention, self_attention
    from .computation import Computation
    from .errors import AttnXlError, CallError, InputError, OutputError
    from .explanation import Explanation, explain
    from .matrix import Graph
    from .models import attend
    from .operations import softmax
    from .reading import read_tables
    from .settings import Formulas, Settings
    from .tables import Table, Tables
    from .terminal import show
    from .vectors import read_vectors
    from .workbook import write_workbook

_HOMES = {
    "attention": ("compare", "scaled_dot_product_attention", "self_attention"),
    "errors": ("AttnXlError", "CallError", "InputError", "OutputError"),
    "explanation": ("Explanation", "explain"),
    "matrix": ("Graph",),
    "computation": ("Computation",),
    "models": ("attend",),
    "arithmetic": ("Matrix", "given"),
    "operations": ("softmax",),
    "settings": ("Formulas", "Settings"),
    "reading": ("read_tables",),
    "tables": ("Table", "Tables"),
    "terminal": ("show",),
    "vectors": ("read_vectors",),
    "workbook": ("write_workbook",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "AttnXlError",
    "CallError",
    "Computation",
    "Explanation",
    "Formulas",
    "Graph",
    "InputError",
    "Matrix",
    "OutputError",
    "Settings",
    "Table",
    "Tables",
    "attend",
    "compare",
    "explain",
    "given",
    "read_tables",
    "read_vectors",
    "scaled_dot_product_attention",
    "self_attention",
    "show",
    "softmax",
    "write_workbook",
]


def __getattr__(name: str) -> Any:
    """Load what is asked for: `attn-xl --help` needs neither numpy nor openpyxl."""
    if name in _HOME_OF:
        return getattr(import_module(f".{_HOME_OF[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
