"""The image of a run: built from the generated tree, or one that exists."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence

from smspec.local.engines.containers.client import Client, ClientFailed, quoted_field
from smspec.local.running.request import RunFailed
from smspec.plan import ImagePlan
from smspec.workspace.own_directories import temporary_directory

_STEP = " ["  # `#7 [3/9] RUN …`, as BuildKit prints the begin of a step
_LONGEST_STEP = 120
_STEPS_OF_OTHERS = ("STEP ", "Step ")  # podman, and docker without BuildKit
_NO_BUILDKIT = "buildx component is missing"
_CACHED = re.compile(r"(?m)^RUN ((?:--mount=type=cache,\S+ \\\n +)+)((?:.*\\\n)*.*)$")
_TARGET = re.compile(r"target=([^\s,]+)")


def has_image(client: Client, name: str) -> bool:
    """Return whether the engine has an image."""
    try:
        client.run("image", "inspect", name)
    except ClientFailed:
        return False
    return True


def build_image(
    client: Client,
    image: ImagePlan,
    tree: str,
    *,
    secrets: Mapping[str, str],
    labels: Mapping[str, str],
    show: Callable[[str], None],
    is_verbose: bool = False,
) -> bool:
    """Build an image, unless the engine has it: the tag is the digest of its content. Raise RunFailed.

    ``tree``: the directory with the generated files. ``secrets``: name → path of a file with the secret. ``labels``:
    those about the build, where the author sets none of their name. Return whether it was built.
    """
    if has_image(client, image.uri):
        return False
    show(f"building the image {image.uri}")
    words = ["--platform", image.platform, "--tag", image.uri]
    for name, value in labels.items():
        words += ["--label", f"{name}={value}"] if name not in image.labels else []
    with temporary_directory() as directory:
        if is_classic(client.program, os.environ):
            words += ["--file", write_classic(tree, directory, secrets)]
        else:
            words += _output(client)
            for name, path in secrets.items():
                source = f"src={os.path.abspath(path)}"  # podman knows no quotes
                words += ["--secret", f"id={name},{source if client.program == 'podman' else quoted_field(source)}"]
        # The client starts in another directory.
        _build(client, [*words, os.path.abspath(tree)], show, is_verbose=is_verbose)
    return True


def _build(client: Client, words: Sequence[str], show: Callable[[str], None], *, is_verbose: bool) -> None:
    """Build, and show the steps, or every line. Raise RunFailed."""

    def show_step(line: str) -> None:
        if is_verbose:
            show(line)
        elif _is_step(line):
            show(line if len(line) <= _LONGEST_STEP else f"{line[:_LONGEST_STEP]}…")

    try:
        client.follow("build", *words, show=show_step)
    except ClientFailed as fault:
        if _NO_BUILDKIT in fault.details:
            install = f"`{client.program}` has no BuildKit: install its plugin `buildx`, or set DOCKER_BUILDKIT=0"
            raise RunFailed(3, install) from None
        if not fault.details:
            raise RunFailed(3, f"`{client.program} build` failed: {str(fault) or 'it printed nothing'}") from None
        if not is_verbose:
            for line in fault.details.splitlines():
                show(line)
        raise RunFailed(1, f"`{client.program} build` failed: the lines above are its last") from None


def _output(client: Client) -> list[str]:
    """Return the options for one image in the store of the engine, with media types that SageMaker accepts.

    A builder of buildx leaves its results in its cache otherwise, and adds manifests about the build.
    """
    if client.program == "podman":
        return ["--format", "docker"]
    if client.program == "docker" and _has_buildx(client):
        plain = ["--provenance=false", "--sbom=false", "--output", "type=docker,oci-mediatypes=false"]
        return ["--progress=plain", *plain]
    return ["--progress=plain"]


def _has_buildx(client: Client) -> bool:
    """Return whether `docker build` is the plugin; before version 23, docker brings a BuildKit client of its own."""
    try:
        client.run("buildx", "version")
    except ClientFailed:
        return False
    return True


def pull_image(client: Client, name: str, show: Callable[[str], None]) -> None:
    """Fetch an existing image, unless the engine has it. Raise RunFailed."""
    if has_image(client, name):
        return
    show(f"pulling the image {name}")
    try:
        client.follow("pull", name, show=lambda _: None)
    except ClientFailed as fault:
        raise RunFailed(3, f"cannot pull `{name}`: {fault}") from None


def written_secrets(secrets: Mapping[str, str], kinds: Mapping[str, str], directory: str) -> dict[str, str]:
    """Return the path of each secret of a build; write those that are values to files in a temporary directory."""
    paths = {}
    for name, value in secrets.items():
        if kinds[name] == "file":
            paths[name] = value
            continue
        paths[name] = os.path.join(directory, f"secret-{name}")
        with open(os.open(paths[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.write(value)
    return paths


def _is_step(line: str) -> bool:
    return line.startswith(_STEPS_OF_OTHERS) or (line.startswith("#") and _STEP in line and "[internal]" not in line)


def is_classic(program: str, environment: Mapping[str, str]) -> bool:
    """Return whether the author's environment chooses docker's old builder, the only one in SageMaker Studio.

    It mounts nothing while it builds. A Dockerfile for both would download every package again for each change, so this
    one gets a copy, which downloads what packages are installed from again, and removes it.
    """
    return program == "docker" and environment.get("DOCKER_BUILDKIT") == "0"


def write_classic(tree: str, directory: str, secrets: Mapping[str, str]) -> str:
    """Write the Dockerfile of a generated tree as the classic builder reads it; return its path. Raise RunFailed."""
    if secrets:
        raise RunFailed(
            3, "`image.secrets` needs BuildKit, and DOCKER_BUILDKIT is 0: remove the secrets, or set DOCKER_BUILDKIT=1"
        )
    path = os.path.join(directory, "Dockerfile")
    with open(os.path.join(tree, "Dockerfile"), encoding="utf-8") as source, open(path, "w", encoding="utf-8") as file:
        file.write(classic(source.read()))
    return path


def classic(dockerfile: str) -> str:
    """Return a generated Dockerfile whose caches are directories, which the instruction that fills them empties."""

    def emptied(found: re.Match[str]) -> str:
        caches = " ".join(f"{target}/*" for target in _TARGET.findall(found[1]))
        return f"RUN {found[2]} \\\n    && rm -rf {caches}"

    return _CACHED.sub(emptied, dockerfile)
