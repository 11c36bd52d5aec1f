"""Rich's console, through which tables and coloured text leave the program."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TextIO, TypeVar

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from .text import forward, inert

Task = TypeVar("Task")


class _InertConsole(Console):
    """A console whose texts cannot steer the terminal: only its own styles and cursor movements do."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            if segment.control or (segment.text.isascii() and segment.text.isprintable()):
                yield segment
            else:
                yield segment._replace(text=forward(inert(segment.text)))

    def on_broken_pipe(self) -> None:
        """Leave it to the program that its reader has stopped, which is no error."""
        raise


def console(file: TextIO | None = None, **options: Any) -> Console:
    """A console on a stream, standard output by default, in colour unless NO_COLOR is set."""
    if os.environ.get("NO_COLOR"):
        options.setdefault("color_system", None)
    return _InertConsole(file=file or sys.stdout, highlight=False, **options)


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """A function to call with what is done and the total; None if stderr is not a terminal."""
    terminal = console(sys.stderr)
    if not terminal.is_terminal:
        yield None
        return
    from rich.progress import Progress

    with Progress(console=terminal, transient=True) as bar:
        task = bar.add_task(what)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def tracked(tasks: Sequence[Task], what: str) -> Iterator[Task]:
    """The tasks one after the other, with a progress bar if stderr is a terminal."""
    with progress_bar(what) as progress:
        for done, task in enumerate(tasks, 1):
            yield task
            if progress:
                progress(done, len(tasks))


def print_unpadded(where: Console, what: Iterable[RenderableType]) -> None:
    """Print to a console without the spaces with which Rich fills lines up."""
    with where.capture() as printed:
        for one in what:
            where.print(one)
    where.file.write("".join(f"{line.rstrip(' ')}\n" for line in printed.get().splitlines()))
