"""The image of a run: built from the generated tree, or one that exists."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from smspec.local.engines.containers.client import Client, ClientFailed
from smspec.local.request import RunFailed
from smspec.plan.plan import ImagePlan

_STEP = " ["  # `#7 [3/9] RUN …`, as BuildKit prints the begin of a step
_LONGEST_STEP = 120
_STEP_OF_PODMAN = "STEP "


def has_image(client: Client, name: str) -> bool:
    """Return whether the engine has an image."""
    try:
        client.run("image", "inspect", name)
    except ClientFailed:
        return False
    return True


def build_image(
    client: Client, image: ImagePlan, tree: str, secrets: Mapping[str, str], show: Callable[[str], None]
) -> None:
    """Build an image, unless the engine has it: the tag is the digest of its content. Raise RunFailed.

    ``tree``: the directory with the generated files. ``secrets``: name → path of a file with the secret.
    """
    if has_image(client, image.uri):
        return
    show(f"building the image {image.uri}")
    words = ["build", "--platform", image.platform, "--tag", image.uri]
    for name, path in secrets.items():
        words += ["--secret", f"id={name},src={path}"]
    if client.program in ("docker", "nerdctl", "finch"):
        words.append("--progress=plain")
    try:
        client.follow(
            *words,
            tree,
            show=lambda line: (
                show(line if len(line) <= _LONGEST_STEP else f"{line[:_LONGEST_STEP]}…") if _is_step(line) else None
            ),
        )
    except ClientFailed as fault:
        for line in fault.details.splitlines():
            show(line)
        raise RunFailed(1, f"`{client.program} build` failed: the lines above are its last") from None


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
    return line.startswith(_STEP_OF_PODMAN) or (line.startswith("#") and _STEP in line and "[internal]" not in line)
