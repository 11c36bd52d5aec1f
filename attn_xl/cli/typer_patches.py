"""What the program changes in private parts of typer: its completion for zsh, and the modules that its
help loads and never uses."""

from __future__ import annotations

import sys
from types import ModuleType

from typer._completion_shared import _completion_scripts


def complete_on_first_tab() -> None:
    """Let the completion script for zsh complete when it is loaded. As typer installs it, the first Tab
    only loads it."""
    _completion_scripts["zsh"] = _completion_scripts["zsh"].replace(
        "\ncompdef", '\n[[ $zsh_eval_context[-1] == loadautofunc ]] && %(complete_func)s "$@"\ncompdef'
    )


def import_help() -> None:
    """Import what typer renders help with, but not the two parsers that it would only need for help in
    Markdown and for tracebacks: they take a quarter of the time of `--help`."""
    unused = {"rich.markdown": "Markdown", "rich.traceback": "Traceback"}
    stubs = {name: ModuleType(name) for name in unused if name not in sys.modules}
    for name, stub in stubs.items():
        setattr(stub, unused[name], type(unused[name], (), {}))
    sys.modules.update(stubs)
    try:
        import typer.rich_utils  # noqa: F401
    finally:
        for name in stubs:
            del sys.modules[name]
