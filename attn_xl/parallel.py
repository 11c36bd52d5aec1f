"""Run tasks in several processes, with a progress bar."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import active_children, parent_process
from threading import Thread
from typing import TypeVar

from .errors import CallError, Interrupted, OutputError
from .text import ignore_warnings

Task = TypeVar("Task")
Result = TypeVar("Result")
ENDING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


def in_parallel(
    do: Callable[[Task], Result],
    tasks: Sequence[Task],
    *,
    jobs: int | None,
    label: str,
) -> Iterator[tuple[int, Result]]:
    """Run `do` on every task in parallel; yields task number and result in order of completion.

    Args:
        do: a module-level function, which another process can import.
        jobs: number of processes; one per core if None.
        label: the label of the progress bar, which appears on a terminal only.

    Raises:
        CallError: if `jobs` is below 1.
        Interrupted: if the program is interrupted.
        OutputError: if one of the processes is killed.
        Exception: whatever `do` raises; no further task is started then.
    """
    check_jobs(jobs)
    jobs = min(jobs or os.cpu_count() or 1, len(tasks)) or 1
    pool = None
    finished = 0
    try:
        results: Iterator[tuple[int, Result]]
        if jobs > 1:
            with _signals_held():  # until the processes ignore them
                pool = ProcessPoolExecutor(jobs, initializer=_follow_parent)
                numbers = {pool.submit(do, task): number for number, task in enumerate(tasks)}
            results = ((numbers[done], done.result()) for done in _completed(numbers))
        else:
            results = ((number, do(task)) for number, task in enumerate(tasks))
        from rich.progress import Progress

        from .console import console

        terminal = console(sys.stderr)
        with Progress(console=terminal, transient=True, disable=not terminal.is_terminal) as progress:
            bar = progress.add_task(label, total=len(tasks))
            for done in results:
                finished += 1
                progress.advance(bar)
                yield done
    except BrokenProcessPool:
        for process in active_children():  # they ignore the signal by which the pool ends them
            process.kill()
        raise OutputError(
            f"a process was killed after {finished} of {len(tasks)} files, possibly for lack of "
            "memory. Use --jobs 1, which needs the least."
        ) from None
    except (KeyboardInterrupt, SystemExit):
        text = f"interrupted: {finished} of {len(tasks)} were finished and are complete."
        raise Interrupted(text) from None
    finally:
        if pool:
            pool.shutdown(cancel_futures=True)


def _completed(futures: Iterable[Future[Result]]) -> Iterator[Future[Result]]:
    """Futures in order of completion. Signals are handled between two waits: an interrupt within one
    could leave a lock of the pool behind, for which its thread would wait for ever."""
    waiting = set(futures)
    while waiting:
        with _signals_held():
            done, waiting = wait(waiting, timeout=0.1, return_when=FIRST_COMPLETED)
        yield from done


def check_jobs(jobs: int | None) -> None:
    """Validate a number of jobs.

    Raises:
        CallError: if it is below 1.
    """
    if jobs is not None and jobs < 1:
        raise CallError(f"--jobs is {jobs}; it takes a whole number of at least 1.")


@contextmanager
def _signals_held() -> Iterator[None]:
    """Let signals wait until the processes that start here have somebody who ends them."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _follow_parent() -> None:
    """Ignore signals, which the parent process handles while workers finish what they are writing. If
    the parent is killed, exit, since nobody is left to send tasks or to end this process."""
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):  # since they were held at the start of this process
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
    ignore_warnings()
    Thread(target=_exit_with_parent, daemon=True).start()


def _exit_with_parent() -> None:
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
