"""How the sheet `Settings` of a written workbook is known. Plain text."""

from __future__ import annotations

SETTINGS = "Settings"
RECORD_NOTE = (
    "How this workbook was made. attn-xl reads it back by these lines: leave them as they are."
)
SENTENCE = "sentence"
