"""Attention, step by step, as live spreadsheet formulas.

import attn_xl
tables = attn_xl.read_tables("samples/mouse.xlsx")
computation = attn_xl.attend(tables)
computation["pets"]["Softmax"].values
attn_xl.write_workbook(computation, "mouse-attention.xlsx")
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "1.3.0"

if TYPE_CHECKING:
    from attn_xl.graph.given import given
    from attn_xl.graph.gradients import gradients
    from attn_xl.graph.graph import Graph
    from attn_xl.graph.matrix import Matrix
    from attn_xl.models.attention import (
        Attending,
        compare,
        scaled_dot_product_attention,
        self_attention,
    )
    from attn_xl.models.computation import Computation
    from attn_xl.models.losses import cross_entropy, mean_squared_error
    from attn_xl.models.softmax import softmax
    from attn_xl.tables.read import read_tables
    from attn_xl.tables.survey import Table, Tables
    from attn_xl.tables.vectors import read_vectors
    from attn_xl.views.explanation import Explanation, explain
    from attn_xl.views.terminal import show

    from .api import Learned, TrainedModel, attend, fill, learn, load_model, write_workbook
    from .errors import AttnXlError, CallError, InputError, OutputError
    from .settings import Formulas, Settings

_HOMES = {
    "api": ("Learned", "TrainedModel", "attend", "fill", "learn", "load_model", "write_workbook"),
    "models.attention": ("Attending", "compare", "scaled_dot_product_attention", "self_attention"),
    "errors": ("AttnXlError", "CallError", "InputError", "OutputError"),
    "views.explanation": ("Explanation", "explain"),
    "graph.gradients": ("gradients",),
    "graph.graph": ("Graph",),
    "graph.given": ("given",),
    "models.computation": ("Computation",),
    "graph.matrix": ("Matrix",),
    "models.losses": ("cross_entropy", "mean_squared_error"),
    "models.softmax": ("softmax",),
    "settings": ("Formulas", "Settings"),
    "tables.read": ("read_tables",),
    "tables.survey": ("Table", "Tables"),
    "views.terminal": ("show",),
    "tables.vectors": ("read_vectors",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Attending",
    "AttnXlError",
    "CallError",
    "Computation",
    "Explanation",
    "Formulas",
    "Graph",
    "InputError",
    "Learned",
    "Matrix",
    "OutputError",
    "Settings",
    "Table",
    "Tables",
    "TrainedModel",
    "attend",
    "compare",
    "cross_entropy",
    "explain",
    "fill",
    "given",
    "gradients",
    "learn",
    "load_model",
    "mean_squared_error",
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
