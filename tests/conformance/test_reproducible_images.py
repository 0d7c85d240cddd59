"""Two builds of one spec, at different times and without a cache, give the same image."""

import os
import shutil
import subprocess
import time

import pytest

from smspec.output.writing import write_tree
from smspec.render.image_settings import EPOCH
from smspec.render.tree_rendering import render_tree
from support.debian_archive import debian_archive
from support.render.plan_samples import build_inputs, image_plan, plan
from support.sampled_cases import only_with_all_engines
from support.servers.package_index import wheel

pytestmark = [
    pytest.mark.slow,
    pytest.mark.docker,
    only_with_all_engines,
    pytest.mark.skipif(shutil.which("buildah") is None, reason="buildah is not installed"),
    pytest.mark.skipif(os.geteuid() != 0, reason="mounting the layers of an image needs root"),
]

MODULE = "WORDS = {'a', 'b', 'c'}\n\ndef known(word):\n    return word in {'one', 'two', 'three', 'four'}\n"


@pytest.fixture
def buildah(tmp_path):
    """Run buildah with images of its own, as many as a test makes."""
    storage = ["--root", tmp_path / "images", "--runroot", tmp_path / "run", "--storage-driver", "overlay"]
    if subprocess.run(["buildah", *storage, "info"], capture_output=True).returncode != 0:
        storage[-1] = "vfs"  # which copies all files for each layer

    def run(*words):
        done = subprocess.run(
            ["buildah", *map(str, (*storage, *words))],
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    return run


def test_two_builds_give_the_same_image(buildah, tmp_path):
    (tmp_path / "greeting-1.0-py3-none-any.whl").write_bytes(wheel("greeting", "1.0", {"greeting.py": MODULE}))
    container = buildah("from", "scratch")
    buildah("add", container, debian_archive(), "/")
    buildah("copy", container, tmp_path / "greeting-1.0-py3-none-any.whl", "/opt/wheels/")
    buildah("config", "--env", "PIP_NO_INDEX=1", "--env", "PIP_FIND_LINKS=/opt/wheels", container)
    buildah("commit", "--rm", container, "localhost/base:1")
    image = image_plan(base="localhost/base:1", python_packages=("greeting==1.0",))
    made = []
    for name in ("first", "second"):
        time.sleep(1.1 * len(made))  # times of files have seconds
        parts = build_inputs(tmp_path / f"{name}-parts", {"train.py": b"", "deep/module.py": b"A = 1\n"})
        write_tree(render_tree(plan(image=image), parts, "5" * 64), str(tmp_path / name))
        options = ("--isolation=chroot", "--network=host", f"--timestamp={EPOCH}", "--layers=false", "--no-cache")
        made.append(buildah("build", *options, "--quiet", "--tag", f"localhost/{name}", tmp_path / name))
    assert made[0] == made[1]
