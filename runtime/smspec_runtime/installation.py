"""Installs what the author's code needs, with the pip of the image, before the program starts."""

import os

from .lean_typing import Callable, List, Mapping, NamedTuple, Optional, Sequence
from .log import log
from .outcome import Outcome
from .program import Program

Run = Callable[[Sequence[str], Mapping[str, str], str], Outcome]
REQUIREMENTS = "requirements.txt"


class Installation(NamedTuple):
    """What pip is to do. ``title`` names it where it fails."""

    title: str
    words: List[str]

    def run(self, environ: Mapping[str, str], code: str, run: Run) -> Outcome:
        """Run pip in the code directory, for requirements may name files of it."""
        # From Python 3.11 on, a json.py of the author's is not taken for pip's.
        variables = {**environ, "PYTHONSAFEPATH": "1"}
        arn = environ.get("CA_REPOSITORY_ARN")
        if arn and REQUIREMENTS in self.words:
            from .aws import package_index  # Late, as all that only some jobs need.

            # Not as an option: it holds a token, and a command line is there for everybody to see.
            variables["PIP_INDEX_URL"] = package_index(arn)
        log("installing: " + " ".join(self.words))
        return run(self.words, variables, code)


def find_installation(program: Program, code: str, python: str) -> Optional[Installation]:
    """Return what must be installed: a package (setup.py), requirements, both, or None."""
    is_package = program.kind == "package"
    wanted = ["."] if is_package else []
    if os.path.isfile(os.path.join(code, REQUIREMENTS)):
        wanted += ["-r", REQUIREMENTS]
    if not wanted:
        return None
    title = f"Install{'Module' if is_package else 'Requirements'}Error"
    return Installation(title, [python, "-m", "pip", "install", *wanted])
