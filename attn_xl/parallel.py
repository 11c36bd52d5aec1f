"""Many things at once: in several processes, with a progress bar. Knows nothing of what is done."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import parent_process
from threading import Thread
from typing import TYPE_CHECKING, TypeVar

from .errors import CallError, Interrupted, OutputError

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

Task = TypeVar("Task")
Result = TypeVar("Result")


def in_parallel(
    do: Callable[[Task], Result], tasks: Sequence[Task], *, jobs: int | None, said: str
) -> Iterator[tuple[int, Result]]:
    """What `do` makes of each task, with the task's number, in the order they get done.

    Args:
        do: a function of a module, which another process can import.
        jobs: so many processes; one for each core if None.
        said: what is being done, for the progress bar, which is shown on a terminal only.

    Raises:
        CallError: if `jobs` is below 1.
        Interrupted: when the program is stopped.
        OutputError: when one of the processes is killed.
        Exception: what `do` raises; what is not begun then is not done.
    """
    check_jobs(jobs)
    jobs = min(jobs or os.cpu_count() or 1, len(tasks)) or 1
    from rich.console import Console
    from rich.progress import Progress

    console = Console(file=sys.stderr)
    finished = 0
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        bar = progress.add_task(said, total=len(tasks))
        try:
            for done in _one_by_one(do, tasks) if jobs == 1 else _spread(do, tasks, jobs):
                finished += 1
                progress.advance(bar)
                yield done
        except (KeyboardInterrupt, SystemExit):
            said = f"interrupted: {finished} of {len(tasks)} were finished; they are whole."
            raise Interrupted(said) from None


def check_jobs(jobs: int | None) -> None:
    """Refuse a number of jobs that there cannot be.

    Raises:
        CallError: if it is below 1.
    """
    if jobs is not None and jobs < 1:
        raise CallError(f"--jobs is {jobs}; it takes a whole number from 1.")


def _one_by_one(do: Callable[[Task], Result], tasks: Sequence[Task]) -> Iterator[tuple[int, Result]]:
    for number, task in enumerate(tasks):
        yield number, do(task)


def _spread(
    do: Callable[[Task], Result], tasks: Sequence[Task], jobs: int
) -> Iterator[tuple[int, Result]]:
    with ProcessPoolExecutor(jobs, initializer=_follow_the_first) as pool:
        numbers = {pool.submit(do, task): number for number, task in enumerate(tasks)}
        try:
            for future in as_completed(numbers):
                yield numbers[future], future.result()
        except BrokenProcessPool:
            raise OutputError(
                "one of the processes was ended from outside, perhaps for want of memory. "
                "Use --jobs 1, which needs least."
            ) from None
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _follow_the_first() -> None:
    """What stops the program stops the process that waits; the others finish what they are writing.
    When that one is killed, they go, too: nobody is left to hand them work or to end them."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    Thread(target=_end_with, args=(parent_process(),), daemon=True).start()


def _end_with(first: BaseProcess | None) -> None:
    assert first is not None
    first.join()
    os._exit(1)
