"""What a rule about a request is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from smspec.diagnostics import Finding
from smspec.service.request import Request

Check: TypeAlias = Callable[[Request], Iterator[Finding]]
"""Yields what is wrong with a request, in which anything may be missing or of another type; paths are the API's."""
