"""The command line."""

from __future__ import annotations


def main(argv: list[str] | None = None) -> int:
    """Run the command and return its exit status."""
    raise SystemExit(argv)
