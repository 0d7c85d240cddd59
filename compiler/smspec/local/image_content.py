"""What the image of a job contains, and the request delivers: source and runtime, copied from the generated files.

Also what the image has and a run without containers takes from this machine.
"""

from __future__ import annotations

import os
import shutil

from smspec.local.request import RunRequest
from smspec.local.run_directory import HostDirectory
from smspec.local.training_request import TrainingRequest
from smspec.plan import Plan
from smspec.plan.delivery import ARCHIVE
from smspec.render.tree import SOURCE, UPLOAD, FileTree
from smspec.spec.model import BuiltImage, JobSpec
from smspec_runtime import run_plan
from smspec_runtime.run_plan import CODE_CHANNEL, RUNTIME_CHANNEL

SUBMIT_DIRECTORY = "sagemaker_submit_directory"
_ENTRYPOINT = "entrypoint.py"
_ARCHIVE = f"{UPLOAD}{ARCHIVE}"
_MOST = 3
_ROOT = ("root", "0")


class ImageContent:
    """The generated files of one job, for engines that start no image."""

    def __init__(self, job: JobSpec, plan: Plan, tree: FileTree, request: RunRequest) -> None:
        self._job = job
        self._plan = plan
        self._training = TrainingRequest(plan.request.payload)
        self._paths = [file.path for file in tree.files]
        self._tree_dir = request.tree_dir

    def generated_channels(self) -> dict[str, str]:
        """Return the channels that deliver source and runtime, and the directories of the tree for them."""
        return {
            name: os.path.join(self._tree_dir, UPLOAD, name)
            for name in (CODE_CHANNEL, RUNTIME_CHANNEL)
            if any(path.startswith(f"{UPLOAD}{name}/") for path in self._paths)
        }

    def hyperparameters(self, uploads: str, seen_as: str | None = None) -> dict[str, str]:
        """Return the content of hyperparameters.json. Copy an archive of the source to ``uploads`` and set its path.

        ``seen_as``: the path of ``uploads`` on a host, if that is not the same.
        """
        values = self._training.hyperparameters
        if _ARCHIVE in self._paths and SUBMIT_DIRECTORY in values:
            name = os.path.basename(_ARCHIVE)
            self._copy(_ARCHIVE, os.path.join(os.path.abspath(uploads), name))
            values[SUBMIT_DIRECTORY] = os.path.join(seen_as or os.path.abspath(uploads), name)
        return values

    def fill(self, directory: HostDirectory) -> None:
        """Copy source and runtime to a host's directory."""
        for path in self._paths:
            if path.startswith(SOURCE) and self._job.delivery == "image":
                self._copy(path, os.path.join(directory.code, path.removeprefix(SOURCE)))
            elif path.startswith("smspec_runtime/") or path in (_ENTRYPOINT, "run_plan.json"):
                self._copy(path, os.path.join(directory.runtime, path))
        if self._plan.run is None:
            shutil.copytree(
                os.path.dirname(run_plan.__file__),
                os.path.join(directory.runtime, "smspec_runtime"),
                ignore=shutil.ignore_patterns("__pycache__"),
            )

    def words(self, python: str, directory: HostDirectory) -> list[str]:
        """Return the words that start the job with ``python``. ``directory``: that of the host, as the host sees it."""
        if self._plan.run is None:
            return [python, "-m", "smspec_runtime", "train"]
        if _ENTRYPOINT in self._paths:
            return [python, os.path.join(directory.runtime, _ENTRYPOINT), "train"]
        return [python, os.path.join(directory.data, RUNTIME_CHANNEL, _ENTRYPOINT), "train"]

    def working_directory(self, directory: HostDirectory) -> str:
        """Return where the job is started."""
        return directory.runtime if self._plan.run is None else directory.base

    def _copy(self, path: str, target: str) -> None:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy(os.path.join(self._tree_dir, path), target)


def image_differences(job: JobSpec) -> list[str]:
    """Return the differences from the image that concern this job; those of its Python are not among them."""
    if not isinstance(job.image, BuiltImage):
        return []
    found = []
    unused = [key for key, has in (("pre_install", job.image.pre_install), ("run", job.image.run)) if has]
    if unused:
        keys = " and ".join(f"`image.{key}`" for key in unused)
        are = "is" if len(unused) == 1 else "are"
        found.append(f"{keys} {are} not executed: programs and libraries come from this machine")
    if job.image.user and job.image.user.partition(":")[0] not in _ROOT:
        found.append(f"`image.user`: the job does not run as `{job.image.user}`")
    packages = job.image.system_packages
    if packages:
        more = f" and {len(packages) - _MOST} more" if len(packages) > _MOST else ""
        come = "comes" if len(packages) == 1 else "come"
        found.append(f"`image.system_packages`: {', '.join(packages[:_MOST])}{more} {come} from this machine")
    return found
