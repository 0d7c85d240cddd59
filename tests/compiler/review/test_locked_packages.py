"""Locked packages of two versions of a job, by name and version."""

import pytest

from smspec.diagnostics.quoting import HIDDEN
from smspec.plan import NeededEnvironment
from smspec.plan.request_planning import make_plan
from smspec.review.job_review import compared
from smspec.review.layers import layers_of_plan
from smspec.review.version import Writing, version_of_plan
from smspec.service.job_costs import PriceBook
from smspec.source.frozen import replace
from smspec.spec.decoding import decode
from smspec.spec.lock import Lock, LockedEnvironment
from smspec.workspace.last_build import read_last_build
from support.small_job import BUILT, write_job
from support.smspec_command import smspec
from support.spec import job_samples

IMAGE = {"base": "python:3.12-slim-bookworm", "python_packages": ["numpy", "six"]}


def locked(packages, digest="a", image=IMAGE, content=b""):
    """Return a job with a lock, as it is compared; None: its packages are not in it."""
    document = job_samples.document(job_samples.spec(image=image))
    job, inputs = decode(document), job_samples.build_inputs()
    lock = Lock(images={image["base"]: f"sha256:{digest * 64}"})
    environment = LockedEnvironment(
        base=image["base"],
        platform="linux/amd64",
        python="3.12",
        packages=packages or {},
        modules=(),
        unlisted=(),
        digest="sha256:" + "b" * 64,
        resolver="uv 0.9.0",
    )
    needed = None if packages is None else NeededEnvironment(key="0" * 16, locked=environment, content=content)
    inputs = replace(inputs, lock=lock, environment=needed)
    plan = make_plan(job, inputs)
    layers = layers_of_plan(plan.image, plan.run, inputs)
    return version_of_plan(plan, job, inputs, layers, Writing(document=document))


def changes(old, new):
    return [(c.what, c.old, c.new) for c in compared(old, new, PriceBook()) if c.kind == "image"]


def test_each_package_is_named():
    old = locked({"numpy": "2.1.0", "six": "1.16.0", "old": "1.0"})
    new = locked({"numpy": "2.2.0", "six": "1.16.0", "new": "3.0"})
    assert changes(old, new) == [
        ("python packages (`new`): is rebuilt", None, "3.0"),
        ("python packages (`numpy`): is rebuilt", "2.1.0", "2.2.0"),
        ("python packages (`old`): is rebuilt", "1.0", None),
    ]


def test_other_files_of_a_version_are_named():
    """A new version of one package hides neither other files of another one nor the index that they come from."""
    index = "--index-url https://u:hunter2x9K@evil.org/simple\n"
    old, new = (
        locked(
            {"numpy": version, "six": "1.16.0"},
            content=f"{more}numpy=={version} \\\n    {one}\nsix==1.16.0 {six}\n".encode(),
        )
        for version, more, one, six in (
            ("2.1.0", "# locked\n", f"--hash=sha256:{'1' * 64}", f"--hash=sha256:{'2' * 64}"),
            ("2.2.0", index, f"--hash=sha256:{'3' * 64}", f"--hash=sha256:{'6' * 64}"),
        )
    )
    assert changes(old, new) == [
        ("python packages (`--index-url`): is rebuilt", None, f"https://{HIDDEN}@evil.org/simple"),
        ("python packages (`numpy`): is rebuilt", "2.1.0", "2.2.0"),
        ("python packages (`six`): is rebuilt", f"1.16.0 sha256:{'2' * 64}", f"1.16.0 sha256:{'6' * 64}"),
    ]
    assert changes(new, new) == []


def test_many_packages_leave_room_for_other_changes():
    old, new = (locked({f"p{number}": version for number in range(50)}) for version in "12")
    found = changes(old, new)
    assert len(found) == 21
    what, before, after = found[-1]
    assert what == "python packages, 30 more: is rebuilt"
    assert (len(before), before[-1], after[-1]) == (30, "p9 1", "p9 2")


@pytest.mark.parametrize(
    ("old", "new"), [(None, {"numpy": "2"}), ({"numpy": "2"}, None), ({"numpy": "2"}, {"numpy": "2"})]
)
def test_unknown_or_equal_packages_are_not_compared(old, new):
    assert not any("numpy" in what for what, _, _ in changes(locked(old), locked(new)))


def test_new_digest_names_the_base():
    base = "base, `python:3.12-slim-bookworm` (new digest): is rebuilt"
    assert (base, f"sha256:{'a' * 12}", f"sha256:{'b' * 12}") in changes(locked(None), locked(None, digest="b"))


@pytest.mark.parametrize(
    ("content", "packages"),
    [
        ("numpy==2.1.0 \\\n    --hash=sha256:00\nSix_x==1 --hash=sha256:00\n", {"numpy": "2.1.0", "six-x": "1"}),
        ('# locked\nsix==1.16.0 ; python_version > "3" --hash=sha256:00\n', {"six": "1.16.0"}),
        ("numpy==2.1.0\n", None),
        ("numpy>=2 --hash=sha256:00\n", None),
        ("-e .\nnumpy==2.1.0 --hash=sha256:00\n", None),
        ("", None),
    ],
)
def test_packages_of_a_build_are_those_with_hashes(content, packages, tmp_path):
    spec = BUILT.replace('bookworm"}', 'bookworm", python_requirements: requirements.txt}')
    write_job(tmp_path, spec, **{"requirements.txt": "numpy==2.1.0 --hash=sha256:00\n"})
    assert smspec("build", "-o", "out", cwd=tmp_path).status == 0
    (tmp_path / "out/requirements.txt").write_text(content)
    assert read_last_build(str(tmp_path / "out")).packages == packages
