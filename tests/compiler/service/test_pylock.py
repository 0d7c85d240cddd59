"""``pylock.toml`` as a requirements file: the same packages, or the reason why not."""

from __future__ import annotations

import json

import pytest

from smspec.service.pylock import NotConvertible, is_pylock, requirements_of
from smspec.service.requirement_lines import read_requirements

HEAD = 'lock-version = "1.0"\ncreated-by = "uv"\nrequires-python = ">=3.11"\n'
A, B = "a" * 64, "b" * 64
WHEELS = f'wheels = [{{ url = "https://e.com/x.whl", hashes = {{ sha256 = "{A}" }} }}]\n'
SDIST = f'sdist = {{ url = "https://e.com/x.tar.gz", hashes = {{ sha256 = "{B}" }} }}\n'


def package(*lines, name="numpy", version="2.1.0"):
    known = f'version = "{version}"\n' if version else ""
    return f'\n[[packages]]\nname = "{name}"\n{known}{"".join(lines)}'


def test_each_package_keeps_its_line_and_hashes():
    text = HEAD + package(WHEELS, SDIST) + package("marker = \"python_version < '3.12'\"\n", WHEELS, name="six")
    found = read_requirements(requirements_of(text.encode()))
    assert found.obstacle == ""
    lines = text.splitlines()
    assert [lines[each.place[0] - 1] for each in found.requirements] == ["[[packages]]"] * 2
    numpy, six = found.requirements
    assert (numpy.name, numpy.specifier, numpy.hashes) == ("numpy", "==2.1.0", {A, B})
    assert six.text == "six==2.1.0; python_version < '3.12'"


def test_archive_is_installed_from_its_url():
    archive = f'archive = {{ url = "https://e.com/x-1.0-py3-none-any.whl", hashes = {{ sha256 = "{A}" }} }}\n'
    (found,) = read_requirements(requirements_of((HEAD + package(archive, version="")).encode())).requirements
    assert (found.url, found.hashes) == ("https://e.com/x-1.0-py3-none-any.whl", {A})


def test_default_groups_are_installed():
    markers = ["'default' in dependency_groups", "os_name == 'nt' or \"dev\" in dependency_groups"]
    packages = [package(f"marker = {json.dumps(marker)}\n", WHEELS) for marker in markers]
    text = f'default-groups = ["default"]\n{HEAD}{"".join(packages)}'
    found = read_requirements(requirements_of(text.encode()))
    assert [each.text.partition("; ")[2] for each in found.requirements] == [
        "os_name != ''",
        "os_name == 'nt' or os_name == ''",
    ]


@pytest.mark.parametrize(
    ("indexes", "options"),
    [
        (["https://pypi.org/simple"], ()),
        (["https://pypi.org/simple/", "https://pypi.org/simple"], ()),
        (["https://i.example.com/simple"], ("--index-url https://i.example.com/simple",)),
        (
            ["https://pypi.org/simple", "https://i.example.com/simple"],
            ("--index-url https://pypi.org/simple", "--extra-index-url https://i.example.com/simple"),
        ),
    ],
)
def test_indexes_become_options(indexes, options):
    packages = [package(f"index = {json.dumps(index)}\n", WHEELS, name=f"p{n}") for n, index in enumerate(indexes)]
    found = read_requirements(requirements_of((HEAD + "".join(packages)).encode()))
    assert found.options == options
    assert [each.place[0] for each in found.requirements] == [5 + 6 * n for n in range(len(indexes))]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("lock-version = ", "is not valid TOML"),
        ("x = 1\n", "has no `lock-version`"),
        ('lock-version = "2.0"\n', "has no `lock-version`"),
        (HEAD + "packages = 5\n", "has `packages` that are not tables"),
        (HEAD + package(WHEELS, name="num py"), "has a package without a valid `name`"),
        (HEAD + package('directory = { path = "." }\n'), "installs `numpy` from a directory"),
        (HEAD + package('vcs = { type = "git", url = "https://e.com/x" }\n'), "installs `numpy` from a repository"),
        (HEAD + package("marker = \"'gpu' in extras\"\n", WHEELS), "only for some extras or groups"),
        (HEAD + package('marker = "python_version < \\"3\\"\\n-e ."\n', WHEELS), "only for some extras or groups"),
        (HEAD + package(), "has no version and files of `numpy`"),
        (HEAD + package(WHEELS, version=""), "has no version and files of `numpy`"),
        (HEAD + package(WHEELS, version="1 --pre"), "has no version and files of `numpy`"),
        (HEAD + package('wheels = [{ url = "https://e.com/x.whl" }]\n'), "without its SHA-256"),
        (HEAD + package(WHEELS.replace(A, A + " -e .")), "without its SHA-256"),
        (
            HEAD + package(f'archive = {{ path = "x.whl", hashes = {{ sha256 = "{A}" }} }}\n', version=""),
            "installs `numpy` from a file of this machine",
        ),
        (HEAD + package('index = "/srv/simple"\n', WHEELS), "has an `index` that is not a URL"),
        ("a." * 9000 + "b = 1\n", "has a line of more than 16 KiB"),
        ("[" * 3000, "is not valid TOML"),
        ("\udcff", "is not valid TOML"),
    ],
)
def test_other_content_is_rejected_for_a_reason(text, reason):
    with pytest.raises(NotConvertible, match=reason):
        requirements_of(text.encode("utf-8", "surrogateescape"))


def test_name_decides():
    assert [is_pylock(name) for name in ("pylock.toml", "pylock.gpu.toml", "uv.lock", "my-pylock.toml")] == [
        True,
        True,
        False,
        False,
    ]
