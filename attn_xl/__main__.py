"""The program's entry: `attn-xl`, or `python -m attn_xl`."""

from __future__ import annotations

import os
import signal
from typing import NoReturn

ENDING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


def main() -> None:
    """Run the program; a signal ends it with one line at any moment of its start and of its end.

    While modules are imported, an exception that a signal raises can be swallowed; nothing has been
    written by then, so the process simply ends."""
    for number in ENDING:
        signal.signal(number, _end)
    from attn_xl.cli.main import main as run

    try:
        run()
    finally:
        for number in ENDING:
            signal.signal(number, signal.SIG_IGN)


def _end(number: int, _: object) -> NoReturn:
    os.write(2, b"attn-xl: interrupted. No unfinished file is left.\n")
    os._exit(128 + number)


if __name__ == "__main__":
    main()
