"""Changes to private parts of typer: the zsh completion script, and unused modules that its help
imports."""

from __future__ import annotations

import sys
from types import ModuleType

from typer._completion_shared import _completion_scripts


def complete_on_first_tab() -> None:
    """Make the zsh completion script complete on the first Tab, which in typer's version only loads the
    script."""
    _completion_scripts["zsh"] = _completion_scripts["zsh"].replace(
        "\ncompdef", '\n[[ $zsh_eval_context[-1] == loadautofunc ]] && %(complete_func)s "$@"\ncompdef'
    )


def import_help() -> None:
    """Import typer's help renderer without two parsers that only Markdown help and tracebacks need.
    They take a quarter of the time of `--help`."""
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
