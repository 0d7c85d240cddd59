"""What the image of a job contains, and the request delivers: source and runtime, copied from the generated files.

Also the variables that SageMaker and the image set, and what a run without containers takes from this machine instead.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from smspec.local.running.request import RunFailed, RunRequest
from smspec.local.running.run_directory import HostDirectory
from smspec.local.running.training_request import TrainingRequest
from smspec.plan import Plan
from smspec.plan.delivery import ARCHIVE
from smspec.plan.script_environment import module_of_image
from smspec.render.tree import SOURCE, SOURCES, UPLOAD, ArchiveFile, CopiedFile, FileTree
from smspec.spec.model import BuiltImage, JobSpec
from smspec_runtime import run_plan
from smspec_runtime.run_plan import CODE_CHANNEL, RUNTIME_CHANNEL

SUBMIT_DIRECTORY = "sagemaker_submit_directory"
_ENTRYPOINT = "entrypoint.py"
_ARCHIVE = f"{UPLOAD}{ARCHIVE}"
_MOST = 3
_ROOT = ("root", "0")

OWN_PREFIXES = ("SM_", "SAGEMAKER_", "TRAINING_JOB_")
"""Variables of SageMaker. Those of smspec's environment are about a different job."""


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
        made = set()
        for path, (content, mode) in self._runtime.items():
            target = os.path.join(directory.runtime, path)
            above = os.path.dirname(target)
            if above not in made:
                os.makedirs(above, exist_ok=True)
                made.add(above)
            with open(target, "wb") as file:
                os.fchmod(file.fileno(), mode)  # whatever the umask
                file.write(content)
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

    @cached_property
    def _runtime(self) -> dict[str, tuple[bytes, int]]:
        """The content and mode of the hundred small files that start the job: all hosts share what is read here."""
        found = {}
        for path in self._paths:
            if path.startswith("smspec_runtime/") or path in (_ENTRYPOINT, "run_plan.json"):
                with open(os.path.join(self._tree_dir, path), "rb") as file:
                    found[path] = file.read(), os.fstat(file.fileno()).st_mode & 0o777
        return found

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


def source_files(tree: FileTree) -> Iterator[tuple[str, str]]:
    """Yield (path in the source, file) of the author's source."""
    for file in tree.files:
        if isinstance(file, ArchiveFile):
            for member in file.members:
                yield member.path, member.file.origin
        elif isinstance(file, CopiedFile):
            for prefix in SOURCES:
                if file.path.startswith(prefix):
                    yield file.path.removeprefix(prefix), file.file.origin


def job_variables(
    job: JobSpec, request: TrainingRequest, inherited: Mapping[str, str], interface: str
) -> dict[str, str]:
    """Return the variables of a job, with the author's `secrets`. ``inherited``: the environment of smspec."""
    return {
        **variables_of_sagemaker(job, request, inherited, interface),
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",  # nothing is written next to imported modules
        **({"SAGEMAKER_TRAINING_MODULE": module} if (module := module_of_image(job)) else {}),
        **set_by_the_job(job, request, inherited),
        **author_secrets(job.secrets, inherited),
    }


def variables_of_sagemaker(
    job: JobSpec, request: TrainingRequest, inherited: Mapping[str, str], interface: str
) -> dict[str, str]:
    """Return the variables that SageMaker sets in every container."""
    account = job.account or (request.role.split(":")[4:5] or [""])[0]
    region = job.region or inherited.get("AWS_REGION") or inherited.get("AWS_DEFAULT_REGION")
    return {
        **({"AWS_REGION": region} if region else {}),
        "TRAINING_JOB_NAME": request.name,
        "TRAINING_JOB_ARN": f"arn:aws:sagemaker:{region or 'local'}:{account}:training-job/{request.name}",
        "DMLC_INTERFACE": interface,
        "KMP_DUPLICATE_LIB_OK": "True",
        "KMP_INIT_AT_FORK": "FALSE",
        "AWS_EXECUTION_ENV": "AWS_ECS_EC2",
    }


def set_by_the_job(job: JobSpec, request: TrainingRequest, inherited: Mapping[str, str]) -> dict[str, str]:
    """Return the variables in the spec; those of `image.env_prepend` come before what is inherited."""
    if not isinstance(job.image, BuiltImage):
        return dict(request.environment)
    image = job.image.env
    before = {
        name: ":".join(filter(None, (prefix, {**inherited, **image}.get(name))))
        for name, prefix in job.image.env_prepend.items()
    }
    return {**image, **before, **request.environment}


def author_secrets(names: Iterable[str], variables: Mapping[str, str]) -> dict[str, str]:
    """Return the variables for `secrets`: the author's of the same names, because a run never asks AWS for them.

    Raise RunFailed, which names all that are missing.
    """
    missing = [f"`{name}`" for name in names if name not in variables]
    if missing:
        are = "variables " + ", ".join(missing) + " are" if len(missing) > 1 else f"variable {missing[0]} is"
        raise RunFailed(3, f"the {are} not set: a local run uses your variables instead of fetching `secrets` from AWS")
    return {name: variables[name] for name in names}
