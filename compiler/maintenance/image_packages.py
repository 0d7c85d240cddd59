"""The rows of the table of packages: for each image of a lock the versions, and for each package its modules.

The images of deep learning containers are built from a uv.lock. An image is omitted if its Dockerfile installs
anything that is neither in its lock nor in the table below.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import yaml
from packaging.markers import Marker

from maintenance.surroundings import Checkout
from smspec.service.facts import Row
from smspec.service.facts.images import images_of
from smspec.source.frozen import dataclass

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Package = dict[str, Any]


def locked_packages(lock: str, *, extras: tuple[str, ...], python: str) -> dict[str, str]:
    """Return name → version of the packages of a project without its groups for development."""
    packages: list[Package] = tomllib.loads(lock)["package"]
    (project,) = (package for package in packages if "virtual" in package["source"] or "editable" in package["source"])
    found: dict[str, str] = {}
    seen: set[tuple[str, str, str]] = set()
    waiting = [*_wanted(project, extras)]
    while waiting:
        wanted = waiting.pop()
        if not _applies(wanted, python):
            continue
        package = _chosen(packages, wanted)
        found[package["name"]] = package["version"]
        for extra in ("", *wanted.get("extra", ())):
            key = (package["name"], package["version"], extra)
            if key not in seen:
                seen.add(key)
                waiting += _wanted(package, (extra,)) if extra else package.get("dependencies", ())
    return dict(sorted(found.items()))


def _wanted(package: Package, extras: Iterable[str]) -> list[Package]:
    optional = package.get("optional-dependencies", {})
    return [*package.get("dependencies", ()), *(each for extra in extras for each in optional.get(extra, ()))]


def _chosen(packages: list[Package], wanted: Package) -> Package:
    """Return the package that a dependency means: it has a version where the lock has several."""
    (package,) = (
        package
        for package in packages
        if package["name"] == wanted["name"] and wanted.get("version") in (None, package["version"])
    )
    return package


def _applies(wanted: Package, python: str) -> bool:
    environment = {
        "implementation_name": "cpython",
        "os_name": "posix",
        "platform_machine": "x86_64",
        "platform_python_implementation": "CPython",
        "platform_system": "Linux",
        "python_full_version": f"{python}.0",
        "python_version": python,
        "sys_platform": "linux",
    }
    return "marker" not in wanted or Marker(wanted["marker"]).evaluate({**environment, "extra": ""})


REPOSITORY = "deep-learning-containers"
ADDED = "*"
"""The version of a package that a Dockerfile installs besides the lock."""

_CONFIGURATIONS = ".github/config/image"
_INSTALLS = r"(?:pip3?|conda|mamba)\s+(?:install|wheel)\s[^\n&;|]*"
_TRANSFORMER_ENGINE = ("einops", "importlib-metadata", "ml-dtypes", "nvdlfw-inspect", "onnx", "onnx-ir", "onnxscript")
_KNOWN: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"transformer-engine\[pytorch\]", ("transformer-engine", "zipp", *_TRANSFORMER_ENGINE)),
    (r"\$\{TE_WHL\}", ()),
    (r"flash-attn==|flash_attn\*|\$\{WHL\}", ("einops", "flash-attn")),
    (r"/sagemaker-debugger\.git", ("smdebug",)),
    (r"sagemaker_xgboost_container-", ("sagemaker-xgboost-container",)),
    (r"sagemaker_sklearn_container-", ("sagemaker-scikit-learn-container",)),
    (r"--force-reinstall PyYAML==", ()),
)
"""What a line of a Dockerfile installs, with the packages that it requires and a lock may lack."""

MODULES_OF_ADDED = {
    "einops": "einops",
    "flash-attn": "flash_attn flash_attn_2_cuda hopper",
    "importlib-metadata": "importlib_metadata",
    "ml-dtypes": "ml_dtypes",
    "nvdlfw-inspect": "nvdlfw_inspect",
    "onnx": "onnx",
    "onnx-ir": "onnx_ir",
    "onnxscript": "onnxscript",
    "sagemaker-scikit-learn-container": "sagemaker_sklearn_container",
    "sagemaker-xgboost-container": "sagemaker_algorithm_toolkit sagemaker_xgboost_container",
    "smdebug": "smdebug",
    "transformer-engine": "build_tools transformer_engine transformer_engine_torch",
    "zipp": "zipp",
}
"""Their modules: that of their wheels, and of the repositories of those that no index has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """``tag``: as the configuration of its release has it. ``packages``: name → version; None if not all are known.

    ``python``: ``3.12``. ``reason``: why its packages are unknown.
    """

    repository: str
    tag: str
    processor: str
    python: str
    packages: dict[str, str] | None
    reason: str = ""


def environments(containers: Checkout, repositories: tuple[str, ...]) -> Iterator[Environment]:
    """Yield the environments of the training images of some repositories."""
    for path in containers.files(_CONFIGURATIONS, ".yml"):
        content = yaml.safe_load(containers.text(path))
        metadata, build = content.get("metadata", {}), content.get("build", {})
        repository, _, tag = metadata.get("prod_image", "").partition(":")
        if repository not in repositories or metadata.get("customer_type") != "sagemaker":
            continue
        short = ".".join(str(metadata["framework_version"]).split(".")[:2])
        packages, reason = _packages(containers, build, short)
        yield Environment(
            repository=repository,
            tag=tag,
            processor=metadata.get("device_type", ""),
            python=str(build.get("python_version", "")),
            packages=packages,
            reason=reason,
        )


def added_packages(dockerfile: str) -> tuple[tuple[str, ...], str]:
    """Return what a Dockerfile installs besides its lock, and the first line that is unknown, if any."""
    joined = re.sub(r"\\\n", " ", dockerfile)
    added: dict[str, None] = {}
    for line in re.findall(_INSTALLS, joined):
        known = [packages for pattern, packages in _KNOWN if re.search(pattern, line)]
        if not known:
            return (), " ".join(line.split())
        added.update(dict.fromkeys(name for packages in known for name in packages))
    return tuple(added), ""


def _packages(containers: Checkout, build: dict[str, str], short: str) -> tuple[dict[str, str] | None, str]:
    dockerfile = containers.text(build["dockerfile"])
    lock = re.search(r"^COPY .*?(\S+/uv\.lock)", dockerfile, re.MULTILINE)
    if lock is None:
        return None, "it has no lock"
    added, unknown = added_packages(dockerfile)
    if unknown:
        return None, f"its Dockerfile has an unknown line: {unknown}"
    extras = ("sagemaker",) if "--extra sagemaker" in dockerfile else ()
    path = lock[1].replace("${FRAMEWORK_SHORT_VERSION}", short)
    locked = locked_packages(containers.text(path), extras=extras, python=build["python_version"])
    return {**dict.fromkeys(added, ADDED), **locked}, ""


PACKAGE, MODULES = "package", "modules"
NO_MODULES = "-"
"""The modules of a package that has none; an empty cell is unknown."""

ModulesOf = Callable[[str, str], frozenset[str] | None]


def package_rows(before: Iterable[Row], environments: Iterable[Environment], modules_of: ModulesOf) -> list[Row]:
    """Return the rows for the environments whose packages are known, sorted by package.

    ``modules_of`` a package and its version is only asked for rows that change.
    """
    columns = {column(each): each.packages for each in environments if each.packages is not None}
    old = {row[PACKAGE]: row for row in before}
    rows = []
    for name in sorted({name for packages in columns.values() for name in packages}):
        versions = {image: packages.get(name, "") for image, packages in columns.items()}
        known = old.get(name, {})
        modules = known.get(MODULES, "")
        if not modules or set(versions.values()) - {*known.values(), ""}:
            modules = _modules(name, {version for version in versions.values() if version}, modules_of)
        rows.append({PACKAGE: name, MODULES: modules, **versions})
    return rows


def column(environment: Environment) -> str:
    """Return the name of a column: the image by the tag in the table of images that is of the same release."""
    tag = environment.tag
    same = [
        image
        for image in images_of(environment.repository)
        if environment.processor in image.processors
        and (tag in image.tags or tag.startswith(tuple(f"{release}-" for release in image.releases)))
    ]
    chosen = min(same, key=lambda image: not image.is_of_sdk, default=None)
    return f"{environment.repository}:{chosen.tag if chosen else tag}"


def _modules(name: str, versions: set[str], modules_of: ModulesOf) -> str:
    """Return the modules of all versions; empty if those of one are unknown."""
    found: set[str] = set()
    for version in versions:
        public = version.partition("+")[0]
        names = frozenset(MODULES_OF_ADDED[name].split()) if version == ADDED else modules_of(name, public)
        if names is None:
            return ""
        found |= names
    return " ".join(sorted(found)) or NO_MODULES
