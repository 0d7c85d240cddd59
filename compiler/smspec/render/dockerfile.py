"""The Dockerfile of a built image, its .dockerignore, and the entrypoint, which leaves all but names to the runtime.

What BuildKit mounts, the secrets of a build, becomes part of no layer and not of the image's history
(https://docs.docker.com/build/building/secrets/).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from smspec.plan import ImagePlan
from smspec.render.filled_templates import filled
from smspec.render.image_settings import EPOCH, image_settings
from smspec_runtime.run_plan import RunPlan

BUILD_USER = "0"
"""Of an image whose author names the user of the job; otherwise both are that of the base image."""

BOTO3 = "boto3==1.37.38"
"""For images without boto3: the last version for Python 3.8. If packages need another one, pip has installed that."""

REQUIREMENTS = "/opt/smspec/requirements.txt"

_APT_TRUSTS = '-o Acquire::https::CAInfo="$SSL_CERT_FILE" '
_SSH_PACKAGES = ("openssh-client", "openssh-server")
_HASH = re.compile(rb"(?m)^[^#\n]*--hash[= ]")

_SECRETS = "/run/secrets"

_LAUNCHERS = {
    None: ", in one process per host",
    "torchrun": ", under torchrun on every host",
    "mpi": ", under mpirun, started by the first host",
    "parameter_server": ", in one process per host, with parameter servers",
    "smdataparallel": ", under mpirun with SageMaker's data parallel library, started by the first host",
}

_SOURCES = {
    "image": "The source is in /opt/ml/code of the image.",
    "channel": "The source arrives in the channel `code`.",
    "s3": "The source arrives from S3 as sourcedir.tar.gz, at the URI in sagemaker_submit_directory.",
}


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
        pre_install=[_with_secrets(script, image.secrets) for script in image.pre_install],
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
        run=[_with_secrets(script, image.secrets) for script in image.run],
        secret_options=_secret_options(image.secrets),
        secret_mounts=_secret_mounts(image.secrets),
        secret_settings=_secret_settings(image.secrets),
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


def _secret_mounts(secrets: Mapping[str, str]) -> list[str]:
    """Return the flags of a RUN instruction that mount secrets: a build without one of them fails.

    The base may have a user other than root, who must be able to read them.
    """
    return [f"--mount=type=secret,id={name},required=true,mode=0444" for name in secrets]


def _secret_settings(secrets: Mapping[str, str]) -> list[str]:
    """Return the shell commands that set variables to secrets: to the value, or to the path of the file.

    They print nothing, and no value is a word of a command line.
    """
    return [
        f'{name}="$(cat {_SECRETS}/{name})" && export {name}' if kind == "env" else f"export {name}={_SECRETS}/{name}"
        for name, kind in secrets.items()
    ]


def _with_secrets(script: str, secrets: Mapping[str, str]) -> str:
    """Return a script of one or several lines that begins by setting the variables of secrets."""
    return "".join(f"{command} || exit\n" for command in _secret_settings(secrets)) + script


def _secret_options(secrets: Mapping[str, str]) -> list[str]:
    """Return the options of ``docker build`` for secrets, without where the secrets come from."""
    return [f"--secret id={name},{'env' if kind == 'env' else 'src'}=…" for name, kind in secrets.items()]


def entrypoint(run: RunPlan) -> str:
    """Return the text of ``entrypoint.py``: one template per kind of entry point."""
    return filled(
        f"{run.kind}.py.j2",
        program=run.program,
        command=run.command,
        arguments=run.arguments,
        launcher_story=_LAUNCHERS[run.launcher],
        source_story=_SOURCES[run.delivery],
    )
