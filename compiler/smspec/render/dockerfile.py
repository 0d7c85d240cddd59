"""The Dockerfile of a built image, and its .dockerignore."""

from __future__ import annotations

import re

from smspec.plan.plan import ImagePlan
from smspec.render.build_secrets import mounts, options, settings, with_settings
from smspec.render.image_settings import EPOCH, image_settings
from smspec.render.templating import filled

BUILD_USER = "0"
"""Of an image whose author names the user of the job; otherwise both are that of the base image."""

BOTO3 = "boto3==1.37.38"
"""For images without boto3: the last version for Python 3.8. If packages need another one, pip has installed that."""

REQUIREMENTS = "/opt/smspec/requirements.txt"

_APT_TRUSTS = '-o Acquire::https::CAInfo="$SSL_CERT_FILE" '
_SSH_PACKAGES = ("openssh-client", "openssh-server")
_HASH = re.compile(rb"(?m)^[^#\n]*--hash[= ]")


def dockerfile(image: ImagePlan, requirements: bytes | None = None) -> str:
    """Return the Dockerfile. ``requirements``: the content of the requirements file, if the image has one.

    Every value has passed `smspec.render.representable.dockerfile_findings`.
    """
    settled = image_settings(image, requirements)
    packages = image.listed_packages
    return filled(
        "Dockerfile.j2",
        base=image.base,
        platform=image.platform,
        build_user="" if image.user is None else BUILD_USER,
        job_user=settled.user,
        build_args=image.build_args,
        env_prepend=settled.prepended,
        pre_install=[with_settings(script, image.secrets) for script in image.pre_install],
        env_before_packages=settled.env_before_packages,
        env_after_packages=settled.env_after_packages,
        system_packages=_system_packages(image),
        # pip and uv read this variable themselves.
        apt_options=_APT_TRUSTS if image.secrets.get("SSL_CERT_FILE") == "file" else "",
        needs_ssh=image.needs_ssh,
        has_requirements=requirements is not None,
        python_packages=packages,
        boto3=BOTO3 if image.adds_boto3 else "",
        epoch=EPOCH,
        pip_installs=pip_installs(packages, requirements, REQUIREMENTS, is_locked=image.environment is not None),
        run=[with_settings(script, image.secrets) for script in image.run],
        secret_options=options(image.secrets),
        secret_mounts=mounts(image.secrets),
        secret_settings=settings(image.secrets),
        labels=settled.labels,
        entrypoint=settled.entrypoint,
        holds_source=image.holds_source,
    )


def dockerignore(image: ImagePlan, requirements: bytes | None = None) -> str:
    """Return the .dockerignore that includes in the context only what the Dockerfile copies."""
    copied = ["entrypoint.py", "run_plan.json", "smspec_runtime"]
    copied += ["requirements.txt"] if requirements is not None else []
    copied += ["source"] if image.holds_source else []
    return "".join(f"{pattern}\n" for pattern in ("*", *(f"!{path}" for path in copied)))


def pip_installs(
    packages: tuple[str, ...], requirements: bytes | None, file: str, *, is_locked: bool
) -> list[tuple[str, ...]]:
    """Return the arguments of ``pip install``, one tuple per run: one run resolves all versions together.

    ``file`` is the path of ``requirements``. With hashes they are a separate run, because pip then rejects requirements
    without a hash. ``is_locked``: the file is of the lock, and lists everything.
    """
    if is_locked:
        return [("--require-hashes", "--no-deps", "--requirement", file)]
    from_file = () if requirements is None else ("--requirement", file)
    if requirements is not None and _HASH.search(requirements):
        runs = [("--require-hashes", *from_file), packages]
    else:
        runs = [(*from_file, *packages)]
    return [words for words in runs if words]


def _system_packages(image: ImagePlan) -> tuple[str, ...]:
    wanted = _SSH_PACKAGES if image.needs_ssh else ()
    named = {word.partition("=")[0] for word in image.system_packages}
    return (*image.system_packages, *(package for package in wanted if package not in named))
