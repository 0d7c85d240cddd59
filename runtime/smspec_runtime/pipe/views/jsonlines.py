"""The view `jsonlines`."""

import json
from typing import Any, Iterator

from ..reader import Reader
from .lines import lines


def jsonlines(reader: Reader) -> Iterator[Any]:
    """One value per line. Blank lines are skipped."""
    decode = json.JSONDecoder().decode
    offset = 0
    for line in lines(reader):
        if not line.isspace():
            try:
                value = decode(str(line, "utf-8"))
            except (ValueError, RecursionError) as error:
                if not line.endswith(b"\n"):
                    reader.end_inside(offset, "a line of JSON")
                raise reader.corrupt(offset, f"the line is not JSON: {error}") from None
            yield value
        offset += len(line)
