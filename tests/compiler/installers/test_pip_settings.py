"""The settings of pip are those that pip itself reports."""

import ast
import os
import re
import subprocess
import sys

import pytest

from smspec.installers import own_pip_settings, pip_options, uv_flags, uv_settings

USER = "[global]\nindex-url = https://user.example/simple\ntimeout = 7\n[install]\nuser = true\nfind-links = a\n  b\n"
NAMED = "[global]\nno_index = true\ntimeout = 9\n[install]\ntimeout =\n[download]\ndest = elsewhere\n"


@pytest.mark.parametrize(
    ("named", "variables"),
    [
        (NAMED, {}),
        (NAMED, {"PIP_TIMEOUT": "5", "PIP_NO_INDEX": "", "PIP_VERSION": "24.0", "PIP_TARGET": "/elsewhere"}),
        (None, {"PIP_EXTRA_INDEX_URL": "https://a.example https://b.example"}),
        (os.devnull, {"PIP_TIMEOUT": "5"}),
    ],
    ids=["a file", "a file and variables", "variables", "no file"],
)
def test_options_are_those_of_pip(named, variables, tmp_path):
    config = tmp_path / "home/.config/pip/pip.conf"
    config.parent.mkdir(parents=True)
    config.write_text(USER)
    variables = {"HOME": str(tmp_path / "home"), "PATH": os.environ["PATH"], **variables}
    if named is not None:
        file = tmp_path / "named.conf"
        file.write_text(named)
        variables["PIP_CONFIG_FILE"] = named if named == os.devnull else str(file)
    for given in (variables, own_pip_settings(variables, str(tmp_path / "own.conf"))):
        found = pip_options(given)
        assert found == reported(given)
        assert "target" not in found or given is variables
        if named is None:
            assert (found["index-url"], found["timeout"]) == ("https://user.example/simple", "7")


def test_settings_of_the_user_are_kept_in_a_private_file(tmp_path):
    config = tmp_path / "home/.config/pip/pip.conf"
    config.parent.mkdir(parents=True)
    config.write_text("[global]\nindex-url = https://name:password@user.example/simple\nuser = true\n")
    file = tmp_path / "own.conf"
    variables = own_pip_settings({"HOME": str(tmp_path / "home"), "PATH": os.environ["PATH"]}, str(file))
    assert file.stat().st_mode & 0o777 == 0o600
    assert pip_options(variables)["index-url"] == "https://name:password@user.example/simple"
    assert pip_options(variables)["user"] == "false"


def reported(variables):
    """Return what pip lists; a variable goes before the section of installations, and that before the general one."""
    words = [sys.executable, "-m", "pip", "config", "list"]
    listing = subprocess.run(words, env=variables, capture_output=True, text=True, check=True).stdout
    lines = [match for line in listing.splitlines() if (match := re.fullmatch(r"([^.]+)\.([\w-]+)=(.+)", line))]
    found = {}
    for section in ("global", "install", ":env:"):
        found |= {match[2].replace("_", "-"): ast.literal_eval(match[3]) for match in lines if match[1] == section}
    return {name: value for name, value in found.items() if value and name != "config-file"}


def test_settings_of_pip_for_uv():
    assert uv_settings({"timeout": "5", "no-binary": ":all:"}, {}) == "no-binary"
    assert uv_flags({"no-index": "1", "pre": "true"}) == ["--no-index", "--prerelease", "allow"]
    assert uv_flags({"no-index": "0", "pre": "off", "index-url": "1"}) == []
    assert uv_settings({"timeout": "5", "user": "true", "find-links": "a\nb"}, {"UV_OFFLINE": "1", "X": "1"}) == {
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "UV_HTTP_TIMEOUT": "5",
        "UV_FIND_LINKS": "a,b",
        "UV_OFFLINE": "1",
    }
