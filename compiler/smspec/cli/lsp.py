"""``smspec lsp``: the language server for editors, on stdin and stdout."""

from __future__ import annotations

import argparse
import os
import sys

from smspec.cli.console import Console, ResourceUnavailable

HELP = """\
Serve an editor with findings, completion, and explanations of specs while they are typed (Language Server Protocol).

An editor starts this command and talks to it on stdin and stdout; it ends with the editor. docs/editor.md has settings
for VS Code, Neovim, Helix, Emacs, and PyCharm. Requires the extra `lsp`, which is pygls: run
pip install 'pygls>=2,<3' with the Python that runs smspec.

Exit status: 0 the editor ended the session; 3 the extra is not installed."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--stdio", action="store_true", help="ignored: the only way to talk, which some editors name")


def run(args: argparse.Namespace, console: Console) -> int:  # noqa: ARG001
    try:
        import pygls  # noqa: F401  # imported late: an optional extra
    except ImportError:
        raise ResourceUnavailable(
            "the language server needs pygls: run `pip install 'pygls>=2,<3'` with the Python that runs smspec"
        ) from None
    from smspec.editor.server import serve

    # Only the protocol may use stdout: whatever prints elsewhere goes to stderr.
    stdout = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return serve(sys.stdin.buffer, stdout)
