"""A progress bar on the terminal, for what takes long."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

BAR_DELAY = 0.5
"""Seconds before the progress bar appears; shorter runs need none."""


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """A function to call with what is done and the total; None if stderr is not a terminal. The bar
    appears after `BAR_DELAY` seconds, and disappears at the end."""
    if not sys.stderr.isatty():
        yield None
        return
    begun = monotonic()
    shown: list[Any] = []

    def progress(done: int, total: int) -> None:
        if not shown and monotonic() - begun > BAR_DELAY:
            from rich.progress import Progress

            from attn_xl.console import console

            bar = Progress(console=console(sys.stderr), transient=True)
            bar.start()
            shown[:] = [bar, bar.add_task(what, total=total)]
        if shown:
            shown[0].update(shown[1], completed=done)

    try:
        yield progress
    finally:
        if shown:
            shown[0].stop()
