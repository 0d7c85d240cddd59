"""Nothing that users copy or see installs smspec by its name: there is no release, so anyone can register the name."""

import re
from pathlib import Path

import pytest

from support.composite_action import ROOT
from support.git_repository import git

_INSTALLER = re.compile(
    r"\b(?:pip3?[ ]+(?:install|download|wheel)|pipx[ ]+\w+|uvx|uv[ ]+(?:add|run|pip[ ]+\w+|tool[ ]+\w+)|poetry[ ]+add"
    r"|pdm[ ]+add|(?:conda|mamba)[ ]+install|easy_install)"
    r"(?:[ ]+(?:--?[\w=-]+|[\"']?[\w.\[\],=<>~!-]+[\"']?))*?"  # options and other packages
    r"(?<!\bof)(?<!\bby)[ ]+[\"']?smspec(?:\[[\w,.-]*\])?(?![\w./@\[-])(?! @ )",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"SMSPEC_PACKAGE[\"']?\s*[:=]\s*[\"']?smspec\b"
    r"|additional_dependencies:.*[\[\"', ]smspec\b(?! @)"
    r"|pypi\.org/(?:project|simple)/smspec"
    r"|^[ \t]*[\"']?smspec(?:\[[\w,.-]*\])?[ ]*(?:[=~><!]=|>)[ ]*\d",
    re.MULTILINE,
)
_FLOATING = re.compile(
    r"/smspec(?:\.git)?@(?!COMMIT\b|[0-9a-f]{40}\b)[\w$]|repo: \S*/smspec\s+rev: (?!COMMIT\b|[0-9a-f]{40}\b)\S"
)

BAD = [
    "pip install smspec",
    "run `pip install 'smspec[lsp]'`",
    "python -m pip install --quiet smspec==1.0",
    "pip install -U 'smspec>=1'",
    "uvx smspec validate .",
    "uv tool install smspec",
    "pipx run smspec",
    "pip install boto3 smspec",
    "  SMSPEC_PACKAGE: smspec # the pip requirement",
    "additional_dependencies: ['smspec']",
    "smspec==1.0",
    "https://pypi.org/project/smspec/",
    "- uses: OWNER/smspec@v1",
    "- uses: example/smspec@main",
    "pip install git+https://github.com/OWNER/smspec@v1",
    "- repo: https://github.com/OWNER/smspec\n    rev: v1",
]
GOOD = [
    "pip install .",
    "pip install '.[lsp]' in a checkout of smspec",
    "pip install ./smspec",
    'pip install "git+https://github.com/OWNER/smspec@COMMIT"',
    "pip install 'smspec @ git+https://example.com/smspec@COMMIT'",
    "pip install https://example.com/smspec-1-py3-none-any.whl#sha256=00",
    "pip install numpy && smspec validate .",
    "- uses: OWNER/smspec@COMMIT",
    "- repo: https://github.com/OWNER/smspec\n    rev: COMMIT",
    "smspec: v1",
    "pip installs only for the Python that runs it; smspec unpacks the wheels",
]


def offences(text):
    return [
        text[max(0, found.start() - 20) : found.end() + 20]
        for pattern in (_INSTALLER, _NAMED, _FLOATING)
        for found in pattern.finditer(text)
    ]


@pytest.mark.parametrize("number", range(len(BAD)))
def test_bad_line_is_found(number):
    assert offences(BAD[number])


@pytest.mark.parametrize("number", range(len(GOOD)))
def test_good_line_is_not_found(number):
    assert not offences(GOOD[number])


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="this is not a clone, so which files are tracked is unknown")
def test_no_tracked_file_installs_the_name():
    found = {}
    names = git(ROOT, "ls-files", "-z").split("\0")
    assert "README.md" in names
    for name in filter(None, names):
        path = ROOT / name
        if path == Path(__file__) or path.is_symlink() or not path.is_file():
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # not a text
        if "smspec" in text and (lines := offences(text)):
            found[name] = lines
    assert found == {}
