"""The modules that an image provides, by the packages that it installs."""

from __future__ import annotations

from smspec.rules.program.program_and_image import ProgramAndImage
from smspec.script.program import LAUNCHERS
from smspec.service.image_python import is_official_python, without_python
from smspec.service.image_reference import parsed_reference
from smspec.service.requirement_lines import has_lines
from smspec.source.frozen import dataclass
from smspec.spec.model import BuiltImage, CommandEntry, JobSpec
from smspec.spec.startup import starter

_PACKAGES = {
    "Bio": "biopython",
    "Crypto": "pycryptodome",
    "MySQLdb": "mysqlclient",
    "OpenSSL": "pyOpenSSL",
    "PIL": "pillow",
    "absl": "absl-py",
    "attr": "attrs",
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python-headless",
    "dateutil": "python-dateutil",
    "docx": "python-docx",
    "dotenv": "python-dotenv",
    "faiss": "faiss-cpu",
    "fitz": "PyMuPDF",
    "google.auth": "google-auth",
    "google.protobuf": "protobuf",
    "github": "PyGithub",
    "grpc": "grpcio",
    "hydra": "hydra-core",
    "igraph": "python-igraph",
    "imblearn": "imbalanced-learn",
    "jwt": "PyJWT",
    "kafka": "kafka-python",
    "magic": "python-magic",
    "mpl_toolkits": "matplotlib",
    "mx": "mxnet",
    "osgeo": "GDAL",
    "pkg_resources": "setuptools",
    "pl_bolts": "lightning-bolts",
    "psycopg2": "psycopg2-binary",
    "pytorch_lightning": "pytorch-lightning",
    "ruamel": "ruamel.yaml",
    "sagemaker_training": "sagemaker-training",
    "sentence_transformers": "sentence-transformers",
    "serial": "pyserial",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "skopt": "scikit-optimize",
    "slugify": "python-slugify",
    "usb": "pyusb",
    "yaml": "PyYAML",
    "zmq": "pyzmq",
}

_NAMESPACES = ("azure", "google")


def package_of(module: str, part: str = "") -> str:
    """Return the package that usually provides a module; ``part``: as much of its name as is missing."""
    names = module.split(".")
    levels = (".".join(names[:2]), names[0])
    known = next((_PACKAGES[name] for name in levels if name in _PACKAGES), None)
    # Those of Google are named after the third level: `google-cloud-storage`.
    return known or "-".join(names[:3] if names[0] in _NAMESPACES else (part or names[0]).split("."))


_LIST, _PACKAGE = "requirements.txt", "setup.py"
"""What is installed when the job starts."""
_OF_PYTHON = ("PATH", "PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV")


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedModules:
    """``image``: its name without the registry. ``names``: the first parts of modules outside of the standard library.

    ``as_of`` ends a sentence.
    """

    image: str
    names: frozenset[str]
    as_of: str


def listed_modules(both: ProgramAndImage) -> ListedModules | None:
    """Return the modules of an image of AWS, or of a base, to which the job adds none; None if they are unknown.

    Which modules an image of AWS provides whose packages are public.
    """
    job, image = both.job, both.job.image
    if image is None or both.reach.is_open or any(both.source.has(name) for name in (_LIST, _PACKAGE)):
        return None
    if any(name in job.environment for name in _OF_PYTHON):
        return None
    if (both.python_in_shell or _python_of_command(job)) not in ("python", "python3"):
        return None
    if isinstance(image, BuiltImage):
        if image.commands or image.python_packages or image.python_requirements is not None or image.system_packages:
            return None
        if any(name in image.job_variables for name in _OF_PYTHON):
            return None
    uri = image.base if isinstance(image, BuiltImage) else image.uri
    reference = parsed_reference(uri)
    if reference is None or reference.account is None:
        return None
    # Imported late: few images are those of AWS, and only theirs are in the table.
    from smspec.service.provided_images import modules_as_of, modules_of

    names = modules_of(uri)
    shown = reference.repository + (f":{reference.tag}" if reference.tag else "")
    return None if names is None else ListedModules(image=shown, names=names, as_of=modules_as_of())


_MODULES_OF_PYTHON = frozenset(
    {"_distutils_hack", "ensurepip", "pip", "pkg_resources", "setuptools", "smspec_runtime", "wheel"}
)
_PARTS = "beta entry_point env environment errors logging logging_config mapping runner"
OF_TOOLKITS = frozenset(
    f"{name}.{mark}{part}"
    for name in ("sagemaker_containers", "sagemaker_training")
    for part in _PARTS.split()
    for mark in ("", "_")
)
"""The modules of `smspec_runtime.toolkit_api`; a test compares them."""
_OF_BOTO3 = frozenset({"boto3", "botocore", "dateutil", "jmespath", "s3transfer", "six", "urllib3"})
_MOST_NAMED = 3
_OPEN = "modules may come from other directories, or be installed at startup"
_WRITES = "the script may create modules before it imports them"
_PYTHONS = frozenset({"python", "python3", *LAUNCHERS})
_WITHOUT_MODULES = frozenset(
    {"build-essential", "ca-certificates", "curl", "g++", "gcc", "git", "libgomp1", "libgl1", "libglib2.0-0", "make"}
    | {"openssh-client", "openssh-server", "procps", "python3", "python3-dev", "python3-full", "python3-minimal"}
    | {"python3-pip", "python3-venv", "tini", "unzip", "wget"}
)
"""Packages of apt that add no module to apt's Python, as far as a script imports them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provided:
    """``names``: the modules at the top outside of the standard library; None if they are not all known.

    Of a namespace, such as ``google``, it has those one level below. ``reason``: why they are not known, as a
    sentence, or why there may be more later; empty if that is reported elsewhere. ``is_lockable``: `smspec lock`
    would make them known. ``listed``: the image of AWS whose list they come from.
    """

    names: frozenset[str] | None = None
    reason: str = ""
    is_lockable: bool = False
    listed: ListedModules | None = None

    def missing_part(self, module: str) -> str | None:
        """Return as much of a module's name as is certainly not there; None for a module that may be there."""
        names = self.names or frozenset()
        top, _, below = module.partition(".")
        if top in names:
            return None
        inside = [name for name in names if name.startswith(f"{top}.")]
        if not inside:
            return top
        part = f"{top}.{below.partition('.')[0]}"
        return None if not below or part in inside else part


def provided(both: ProgramAndImage) -> Provided:
    """Return the modules that the image of a job provides, or why they are unknown."""
    listed = listed_modules(both)
    if listed is not None:
        return Provided(names=listed.names | _MODULES_OF_PYTHON | _OF_BOTO3 | modules_of_runtime(both), listed=listed)
    later = _OPEN if both.reach.is_open else ""
    if not later and not all(used.is_early for used in both.reach.foreign):
        later = _WRITES
    reason = _unknown_besides_packages(both)
    if reason:
        return Provided(reason=later or reason)
    if both.source.has(_LIST) and both.startup is None and not _adds_nothing(both):
        reason = later or f"`{_LIST}` of the source is installed at startup"
        return Provided(reason=reason, is_lockable=not later and both.startup_is_lockable)
    added = both.startup.modules if both.startup is not None else ()
    unlisted = both.startup.unlisted if both.startup is not None else ()
    of_base = _MODULES_OF_PYTHON | _OF_BOTO3 if both.job.delivery == "s3" else _MODULES_OF_PYTHON
    of_base |= modules_of_runtime(both)
    image, environment = both.job.image, both.environment
    if environment is not None:
        unlisted = (*environment.unlisted, *unlisted)
        # A file of setuptools replaces the module that Python 3.12 removed.
        more = {"distutils"} if "setuptools" in environment.packages else set()
        of_base = of_base.union(environment.modules, more)
    if unlisted:
        return Provided(reason=later or f"no wheel shows the modules of {_listed(unlisted)}")
    installs = isinstance(image, BuiltImage) and (image.python_packages or image.python_requirements is not None)
    if installs and environment is None:
        if both.is_stale:
            return Provided()
        unknown = "the modules in the packages of the image are unknown"
        return Provided(reason=unknown, is_lockable=both.is_lockable)
    return Provided(names=of_base.union(added), reason=later)


def lacks_launcher(both: ProgramAndImage, provided: Provided, name: str) -> bool:
    """Return whether an image certainly does not have a launcher."""
    image, module = both.job.image, LAUNCHERS[name]
    if provided.names is None or provided.listed is not None or not isinstance(image, BuiltImage):
        return False
    if module:
        return module not in provided.names and all(used.top != module for used in both.reach.foreign)
    added = {word.partition("=")[0].partition(":")[0] for word in image.system_packages} - _WITHOUT_MODULES
    return is_official_python(image.base) and not added and not any("mpi" in name for name in both.declared)


def modules_of_runtime(both: ProgramAndImage) -> frozenset[str]:
    """Return the modules of SageMaker's toolkits that the runtime replaces; none if the image starts the job."""
    return OF_TOOLKITS if starter(both.job) == "runtime" else frozenset()


def _adds_nothing(both: ProgramAndImage) -> bool:
    """Return whether the list in the source has no packages, or the image has been built with the same list."""
    return both.listed is not None and (both.requirements == both.listed or not has_lines(both.listed))


def _listed(packages: tuple[str, ...]) -> str:
    more = f" and {len(packages) - _MOST_NAMED} more" if len(packages) > _MOST_NAMED else ""
    return ", ".join(f"`{name}`" for name in packages[:_MOST_NAMED]) + more


def _unknown_besides_packages(both: ProgramAndImage) -> str:
    job, image = both.job, both.job.image
    if not isinstance(image, BuiltImage):
        return "the packages of the existing image are unknown"
    if image.commands:
        return f"`image.{'run' if image.run else 'pre_install'}` may install packages"
    if {"PATH", "PYTHONHOME", "PYTHONPATH"} & {*image.job_variables, *job.environment}:
        return "variables change which Python starts"
    if both.reach.texts and (both.python_in_shell or _python_of_command(job)) not in _PYTHONS:
        return "the command names a different Python"
    if both.source.has(_PACKAGE):
        return f"`{_PACKAGE}` of the source is installed at startup"
    if is_official_python(image.base):
        return ""
    if without_python(image.base):
        others = {word.partition("=")[0].partition(":")[0] for word in image.system_packages} - _WITHOUT_MODULES
        return "`image.system_packages` may provide modules" if others else ""
    return "the packages of `image.base` are unknown"


def _python_of_command(job: JobSpec) -> str:
    """Return the word of a command that names its Python; `python` without a command."""
    if not isinstance(job.entry_point, CommandEntry):
        return "python"
    # Imported late: few jobs have a command.
    from smspec.script.started import started_by_command

    found = started_by_command(job.entry_point.command)
    return job.entry_point.command[0] if found is None else found.by
