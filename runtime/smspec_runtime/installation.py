"""Installs what the author's code needs, with the pip of the image."""

import os

from .lean_typing import Callable, List, Mapping, Sequence, Tuple
from .log import log
from .outcome import Outcome
from .program import Program

Run = Callable[[Sequence[str], Mapping[str, str], str], Outcome]
REQUIREMENTS = "requirements.txt"


def install(
    program: Program, code: str, python: str, environ: Mapping[str, str], run: Run
) -> Tuple[Outcome, List[str], str]:
    """Install a package (setup.py), requirements, or both. Return how pip ended, its words, and a title for that."""
    is_package = program.kind == "package"
    wanted = ["."] if is_package else []
    variables = {**environ, "PYTHONSAFEPATH": "1"}  # From Python 3.11 on, a json.py of the author's is not pip's.
    if os.path.isfile(os.path.join(code, REQUIREMENTS)):
        wanted += ["-r", REQUIREMENTS]
        if environ.get("CA_REPOSITORY_ARN"):
            from .aws import package_index  # Late, as all that only some jobs need.

            # Not as an option: everybody sees command lines, and it holds a token.
            variables["PIP_INDEX_URL"] = package_index(environ["CA_REPOSITORY_ARN"])
    if not wanted:
        return Outcome(0), [], ""
    words = [python, "-m", "pip", "install", *wanted]
    log("installing: " + " ".join(words))
    return run(words, variables, code), words, f"Install{'Module' if is_package else 'Requirements'}Error"
