"""Run pip for another machine: a standalone program, ``pip_program.py MARKERS builds|wheels WORD…``.

``--python-version`` and ``--platform`` select files; markers such as ``python_version < "3.9"`` are still evaluated
for the Python that runs pip. Hashes select among files, but dependencies need none. With ``wheels``, pip refuses what
it would have to build, or to clone: ``--only-binary`` does not apply to URLs, which packages may depend on, and options
in a file of requirements replace it.
"""

import json
import sys
from typing import Any


def main(markers: "dict[str, str]", kind: str, words: "list[str]") -> int:
    from pip._vendor.packaging import markers as module  # as pip itself does

    vars(module)["default_environment"] = lambda: dict(markers)
    from pip._internal.cli import req_command
    from pip._internal.cli.main import main as pip

    command = vars(req_command)["RequirementCommand"]
    read = command.get_requirements

    def read_without_hash_mode(self: "Any", args: "Any", options: "Any", *others: "Any") -> "Any":
        found = read(self, args, options, *others)
        options.require_hashes = False
        return found

    command.get_requirements = read_without_hash_mode

    if kind != "builds":
        try:
            _refuse_builds()
        except (ImportError, KeyError) as fault:
            sys.stderr.write(
                f"cannot start pip: its version is unknown, and might build packages: {fault}; install uv\n"
            )
            return 127
    status: int = pip(words)
    return status


def _refuse_builds() -> None:
    """Let pip refuse every source before it is downloaded, and once more where its code would run."""
    from pip._internal.distributions import sdist
    from pip._internal.exceptions import InstallationError
    from pip._internal.operations import prepare

    def refuse(requirement: "Any") -> None:
        path = f" (from {requirement.from_path()})" if requirement.from_path() else ""
        place = requirement.comes_from if isinstance(requirement.comes_from, str) else ""
        name = requirement.name or requirement.link
        raise InstallationError(f"Building source distributions for `{name}` is disabled{path or f' ({place})'}")

    preparer = vars(prepare)["RequirementPreparer"]
    prepared = vars(preparer)["prepare_linked_requirement"]
    vars(preparer)["prepare_editable_requirement"], vars(prepare)["unpack_vcs_link"]

    def prepare_wheel(self: "Any", requirement: "Any", *others: "Any", **named: "Any") -> "Any":
        links = [link for link in (requirement.link, requirement.original_link) if link]
        if requirement.editable or not all(link.is_wheel and not link.is_vcs for link in links):
            refuse(requirement)
        return prepared(self, requirement, *others, **named)

    preparer.prepare_linked_requirement = prepare_wheel
    preparer.prepare_editable_requirement = lambda _self, requirement, *_, **_named: refuse(requirement)
    source = vars(sdist)["SourceDistribution"]
    vars(source)["prepare_distribution_metadata"]
    source.prepare_distribution_metadata = lambda self, *_, **_named: refuse(self.req)

    def clone(link: "Any", *_: "Any", **_named: "Any") -> None:
        raise InstallationError(f"Building source distributions for `{link}` is disabled")

    vars(prepare)["unpack_vcs_link"] = clone


if __name__ == "__main__":
    del sys.path[0]  # the directory of this file, which has a module named pip
    sys.exit(main(json.loads(sys.argv[1]), sys.argv[2], sys.argv[3:]))
