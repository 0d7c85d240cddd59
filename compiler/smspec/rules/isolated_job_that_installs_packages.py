"""The runtime and the toolkits install the requirements of the source at job start, and need an index for missing ones.

pip does not contact an index for requirements that are already met: a list that the image has installed is allowed.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.source.listing import Listing
from smspec.spec.isolation import isolation_path
from smspec.spec.model import BuiltImage, JobSpec, ScriptEntry
from smspec.spec.starter import starter
from smspec.spec.startup_requirements import NAME, startup_requirements

RULE = Rule("SM379", "isolated job that installs packages")
MAYBE = Rule("SM381", "isolated job that might install packages", "warning")

_PACKAGE = "setup.py"
# Official images without third-party packages: their contents are known.
_BARE_BASES = r"(?:docker\.io/)?(?:library/)?(?:python|debian|ubuntu|buildpack-deps)(?:[:@].*)?"


def check(job: JobSpec, source: Listing) -> Iterator[Finding]:
    """Reject network isolation where pip would need an index at startup; warn where it might."""
    path = isolation_path(job)
    if path is None or job.source is None or starter(job) == "image":
        return
    if source.has(_PACKAGE) and isinstance(job.entry_point, ScriptEntry):
        # pip builds a package in a separate environment, with a setuptools from the index.
        yield RULE.at(
            path,
            f"`{_PACKAGE}` needs an index at startup, but `network.isolation` is true",
            help="install the package when the image is built, and add `setup.py` to `source.ignore`",
        )
    elif startup_requirements(job, source) is not None:
        rule = RULE if _certainly_lacks_packages(job) else MAYBE
        help = (
            f"set `image.python_requirements` to `{posixpath.join(job.source.dir, NAME)}`"
            if isinstance(job.image, BuiltImage)
            else "use an image that contains the packages, and add `requirements.txt` to `source.ignore`"
        )
        needs = "needs an index" if rule is RULE else "might need an index"
        yield rule.at(path, f"`{NAME}` {needs} at startup, but `network.isolation` is true", help=help)


def _certainly_lacks_packages(job: JobSpec) -> bool:
    """Return whether the image has no packages: a bare base image, and no build step that installs any."""
    image = job.image
    if not isinstance(image, BuiltImage) or image.python_packages or image.python_requirements or image.commands:
        return False
    return not image.system_packages and re.fullmatch(_BARE_BASES, image.base) is not None
