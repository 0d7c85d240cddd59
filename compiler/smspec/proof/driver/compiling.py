"""Compile files and write the errors: ``compiling.py FILES RESULT``, both JSON.

FILES is a list of paths; RESULT maps a path with an error to its message, line, and column.
"""

from __future__ import annotations

import json
import sys
import warnings


def main(listed: str, result: str) -> None:
    """Compile every file as an import would."""
    warnings.simplefilter("ignore")
    errors = {}
    with open(listed, encoding="utf-8") as file:
        paths = json.load(file)
    for path in paths:
        with open(path, "rb") as file:
            content = file.read()
        try:
            compile(content, path, "exec", dont_inherit=True)
        except SyntaxError as error:
            errors[path] = [error.msg or "", error.lineno or 1, error.offset or 1]
        except ValueError as error:  # a zero byte, before Python 3.12
            errors[path] = [str(error), 1, 1]
        except (RecursionError, MemoryError, OverflowError):
            continue  # limits of this machine
    with open(result, "w", encoding="utf-8") as file:
        json.dump({"version": "%d.%d.%d" % sys.version_info[:3], "errors": errors}, file)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
