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
        variables = dict(environ)
        variables["PYTHONSAFEPATH"] = "1"  # From Python 3.11 on, a json.py of the author's is not taken for pip's.
        arn = environ.get("CA_REPOSITORY_ARN")
        if arn and REQUIREMENTS in self.words:
            from .package_index import index_url  # Late: it needs boto3.

            # Not as an option: it holds a token, and a command line is there for everybody to see.
            variables["PIP_INDEX_URL"] = index_url(arn)
        log("installing: " + " ".join(self.words))
        return run(self.words, variables, code)


def find_installation(program: Program, code: str, python: str) -> Optional[Installation]:
    """Return what must be installed: a package (setup.py), requirements, both, or None."""
    wanted = ["."] if program.kind == "package" else []
    if os.path.isfile(os.path.join(code, REQUIREMENTS)):
        wanted += ["-r", REQUIREMENTS]
    if not wanted:
        return None
    title = "InstallModuleError" if program.kind == "package" else "InstallRequirementsError"
    return Installation(title, [python, "-m", "pip", "install", *wanted])
