"""Base images without Python, pip, or apt, and requirements that pip does not install."""

import pytest

from smspec.rules.images import unusable_base_image
from smspec.rules.requirements import check_format, check_lines, check_startup_format, check_startup_lines
from smspec.service.image_python import is_official_python, python_of_image
from smspec.source import Listing
from smspec.spec.model import BuiltImage, ExistingImage
from support import small_job
from support.smspec_command import smspec
from support.spec import job_samples

CUDA = "nvidia/cuda:12.4.1-cudnn-runtime-ubuntu22.04"
PYTHONS = {
    "python:3.12-slim-bookworm": (3, 12),
    "python:3.9.18": (3, 9),
    "python:3.13-rc": (3, 13),
    "docker.io/library/python:3.8-alpine": (3, 8),
    "mirror.example.com:5000/library/python:3.11": (3, 11),
    "python:3": None,
    "python:slim": None,
    "python": None,
    "python@sha256:" + "0" * 64: None,
    "763104351884.dkr.ecr.us-west-2.amazonaws.com/pytorch-training:2.1.0-cpu-py310": (3, 10),
    "763104351884.dkr.ecr.us-west-2.amazonaws.com/pytorch-training:2.1.0-gpu-py310-cu121-ubuntu20.04": (3, 10),
    "246618743249.dkr.ecr.us-west-2.amazonaws.com/sagemaker-scikit-learn:1.2-1-cpu-py3": None,
    "520713654638.dkr.ecr.us-west-2.amazonaws.com/sagemaker-tensorflow:1.12.0-cpu-py27": (2, 7),
    "763104351884.dkr.ecr.us-west-2.amazonaws.com/tensorflow-training:1.13-cpu-py2": (2, 7),
    "763104351884.dkr.ecr.us-west-2.amazonaws.com/tensorflow-training:2.1.0-gpu-py3": (3, 6),
    "763104351884.dkr.ecr.us-west-2.amazonaws.com/mxnet-training:1.4-cpu-py3": (3, 6),
    "520713654638.dkr.ecr.us-west-2.amazonaws.com/sagemaker-tensorflow:1.12-cpu-py2": (2, 7),
    "520713654638.dkr.ecr.us-west-2.amazonaws.com/sagemaker-mxnet-py2-gpu:1.0": (2, 7),
    "520713654638.dkr.ecr.us-west-2.amazonaws.com/sagemaker-chainer:5.0.0-cpu-py3": None,
    "registry.example.com/team/train:1.0-gpu-py3.6": (3, 6),
    "registry.example.com/team/train:python-3.7": (3, 7),
    "registry.example.com/team/train:py38-py2": None,
    "registry.example.com/team/train:happy27": None,
    "ubuntu:22.04": None,
    "registry.example.com/team/train:3.12": None,
}


@pytest.mark.parametrize("image", PYTHONS)
def test_python_is_read_from_the_tag(image):
    assert python_of_image(image) == PYTHONS[image]


@pytest.mark.parametrize(
    ("image", "version"),
    [
        ("ubuntu:22.04", (3, 10)),
        ("ubuntu:noble-20240605", (3, 12)),
        ("debian:bookworm-slim", (3, 11)),
        ("debian:12.5", (3, 11)),
        ("debian:bullseye-20240101-slim", (3, 9)),
        (CUDA, (3, 10)),
        ("debian:unstable", None),
    ],
)
def test_python_of_apt_is_that_of_the_release(image, version):
    assert python_of_image(image, ("git", "python3", "python3-pip")) == version
    assert python_of_image(image, ("git",)) is None


def test_image_of_the_same_name_is_not_the_official_one():
    assert is_official_python("python:3.12")
    assert is_official_python("public.ecr.aws/docker/library/python:3.12")
    assert not is_official_python("111122223333.dkr.ecr.us-west-2.amazonaws.com/python:3.12")
    assert not is_official_python("team/python:3.12")


UNUSABLE = [
    ({"base": "ubuntu:22.04"}, "no Python"),
    ({"base": "debian"}, "no Python"),
    ({"base": CUDA, "python_packages": ["numpy"], "run": ["apt-get install -y python3-pip"]}, "no Python"),
    ({"base": "ubuntu:22.04", "system_packages": ["git"]}, "no Python"),
    ({"base": "ubuntu:22.04", "system_packages": ["python3"], "python_packages": ["numpy"]}, "no pip"),
    ({"base": "ubuntu:18.04", "system_packages": ["python3", "python3-pip"]}, "3.6"),
    ({"base": "python:3.7-slim"}, "3.7"),
    ({"base": "python:2.7"}, "2.7"),
    ({"base": "python:2"}, "2.7"),
    ({"base": "python:2-alpine3.6"}, "2.7"),
    ({"base": "python:3.12-alpine", "system_packages": ["git"]}, "apt"),
    ({"base": "alpine:3.20"}, "no Python"),
]
USABLE = [
    {"base": "ubuntu:22.04", "system_packages": ["python3", "python3-pip"], "python_packages": ["numpy"]},
    {"base": "ubuntu:22.04", "system_packages": ["python3"]},
    {"base": "ubuntu:22.04", "run": ["apt-get update && apt-get install -y python3"]},
    {"base": "ubuntu:22.04", "system_packages": ["awscli"], "python_packages": ["numpy"]},
    {"base": "ubuntu:18.04", "system_packages": ["python3.8", "python3"], "run": ["ln -s python3.8 /usr/bin/python3"]},
    {"base": "python:3.7-slim", "run": ["install-python"]},
    {"base": "python:3.12-alpine"},
    {"base": "team/ubuntu:22.04"},
    {"base": "python:3.8"},
    {"base": "python"},
]


def found(image):
    return [*unusable_base_image(job_samples.job(image=image), Listing())]


@pytest.mark.parametrize(("image", "word"), UNUSABLE)
def test_unusable_base_image_is_reported(image, word):
    (finding,) = found(image)
    assert word in finding.message


@pytest.mark.parametrize(("python", "version"), [("py2", "2.7"), ("py27", "2.7"), ("py36", "3.6"), ("py37", "3.7")])
def test_existing_image_with_an_old_python_is_reported(python, version):
    """The runtime cannot start in it; with `delivery: s3` the image starts the script itself."""
    image = f"763104351884.dkr.ecr.us-west-2.amazonaws.com/pytorch-training:1.5.0-cpu-{python}-ubuntu16.04"
    jobs = {
        delivery: job_samples.job(image=image, source={"dir": "src/", "delivery": delivery, "s3": "s3://code/x/"})
        for delivery in ("channel", "s3")
    }
    (finding,) = unusable_base_image(jobs["channel"], Listing())
    assert f"Python {version}; the minimum for `delivery: channel` is 3.8" in finding.message
    assert [*unusable_base_image(jobs["s3"], Listing())] == []


@pytest.mark.parametrize("image", USABLE)
def test_usable_base_image_is_accepted(image):
    assert found(image) == []


FOREIGN = {
    "environment.yml": (b"name: x\nchannels:\n  - defaults\ndependencies:\n  - numpy=1.26\n", "Conda"),
    "uv.lock": (b'version = 1\nrequires-python = ">=3.10"\n\n[[package]]\nname = "numpy"\n', "lockfile"),
    "poetry.lock": (b"# This file is automatically @generated by Poetry 1.8.2\n\n[[package]]\n", "poetry"),
    "pylock.toml": (b'lock-version = "1.0"\ncreated-by = "uv"\n[[packages]]\n', "pylock"),
    "pyproject.toml": (b'[project]\nname = "x"\ndependencies = ["numpy"]\n', "pyproject"),
    "Pipfile": (b'[[source]]\nurl = "https://pypi.org/simple"\n\n[packages]\nnumpy = "*"\n', "Pipfile"),
    "Pipfile.lock": (b'{\n    "_meta": {\n', "Pipfile.lock"),
    "requirements.txt": ("numpy==1.26\n".encode("utf-16"), "UTF-16"),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_foreign_requirements_are_named(name):
    content, word = FOREIGN[name]
    (finding,) = check_format(content, name)
    assert word in finding.message


PLAIN = b"""# requirements
--index-url https://pypi.org/simple
numpy==1.26.4 ; python_version >= "3.9"  # a = b
torch[extra] >= 2.0, < 3
six === 1.16
name @ https://example.com/name-1.0.zip#sha256=00
numpy==1.26.4 \\
    --hash=sha256:00
"""


def test_plain_requirements_are_accepted():
    image = BuiltImage(base="python:3.12-slim")
    assert [*check_format(PLAIN, "requirements.txt"), *check_lines(image, PLAIN)] == []
    assert [*check_format(None, ""), *check_lines(image, None)] == []


@pytest.mark.parametrize(
    "line", ["numpy=1.26", "torch[extra] = 2.0", "six=1.16 ; python_version > '3'", "mkl=2020.0=166\nsix=1=py_0"]
)
def test_single_equals_sign_is_reported_at_its_line(line):
    (finding,) = check_lines(BuiltImage(base="python:3.12"), f"a==1\n{line}\n".encode())
    assert "line 2 has `=`" in finding.message


GIT = b"peft @ git+https://github.com/huggingface/peft\n"


@pytest.mark.parametrize(
    ("base", "packages", "is_reported"),
    [
        ("python:3.12-slim-bookworm", (), True),
        ("python:3.12-slim-bookworm", ("git",), False),
        ("python:3.12-alpine", (), True),
        ("python:3.12", (), False),
        ("debian:12", ("python3", "python3-pip"), True),
        ("team/python:3.12-slim", (), False),
    ],
)
def test_git_url_requires_git(base, packages, is_reported):
    image = BuiltImage(base=base, system_packages=packages)
    assert bool([*check_lines(image, GIT)]) is is_reported
    packaged = BuiltImage(base=base, system_packages=packages, python_packages=("a @ git+https://example.com/a",))
    assert bool([*check_lines(packaged, None)]) is is_reported


@pytest.mark.parametrize(
    ("content", "image", "words"),
    [
        (GIT, BuiltImage(base="python:3.12-slim"), "`requirements.txt` line 1 requires git"),
        (b"-e " + GIT[7:], BuiltImage(base="python:3.12-slim"), "`requirements.txt` line 1 requires git"),
        (GIT, BuiltImage(base="python:3.12-slim", run=("apt-get install -y git",)), ""),
        (GIT, BuiltImage(base="python:3.12-slim", pre_install=("apt-get install -y git",)), ""),
        (GIT[:-1] + b" ; sys_platform == 'win32'", BuiltImage(base="python:3.12-slim"), ""),
        (GIT, BuiltImage(base="python:3.12-slim", system_packages=("git",)), ""),
        (GIT, ExistingImage(uri="example.com/team/train:1"), ""),
        (b"six\nnumpy=1.26\n", ExistingImage(uri="example.com/team/train:1"), "`requirements.txt` line 2 has `=`"),
        (b"name: x\ndependencies:\n  - numpy\n", BuiltImage(base="python:3.12"), "is a Conda environment"),
        (
            "numpy==1.26\n".encode("utf-16"),
            BuiltImage(base="python:3.12"),
            "is UTF-16",
        ),  # pip reads it, git shows nothing
        (PLAIN, BuiltImage(base="python:3.12-slim"), ""),
    ],
    ids=[
        "git",
        "editable git",
        "git by apt",
        "git before",
        "git elsewhere",
        "git as a package",
        "git in an image",
        "one equals sign",
        "Conda",
        "UTF-16",
        "plain",
    ],
)
def test_requirements_of_the_source_are_checked(content, image, words):
    found = [*check_startup_format(content, ("source",)), *check_startup_lines(content, ("source",), image)]
    assert [words in finding.message for finding in found] == [True] * bool(words)


@pytest.mark.parametrize("network", ["isolation: true", "subnets: [subnet-0aa1bb2cc], security_groups: [sg-0bb1cc2dd]"])
def test_empty_requirements_of_the_source_need_no_index(network, tmp_path):
    """pip installs nothing, and contacts nothing."""
    spec = small_job.BUILT.replace("hyperparameters: {epochs: 2}", f"network: {{{network}}}")
    small_job.write_job(tmp_path, spec)
    (tmp_path / "src" / "requirements.txt").write_text("")
    assert smspec("validate", "--strict", cwd=tmp_path).status == 0
    (tmp_path / "src" / "requirements.txt").write_text("six\n")
    assert smspec("validate", "--strict", cwd=tmp_path).status == 1
