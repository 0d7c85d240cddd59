"""`smspec --completion`: each shell offers what the parsers accept and executes no text from a file."""

import argparse
import importlib
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from smspec.cli import COMMANDS
from smspec.cli.completion import KINDS, SHELLS, grammars
from smspec.diagnostics.explanation import explained_codes
from support.git_repository import commit, git, repository
from support.small_job import BUILT, write_job
from support.smspec_command import environment, smspec

BIN = Path(sys.prefix) / "bin"
SPEC = f"""{BUILT}channels: {{train: s3://a/b/, '$(touch ran)': s3://a/c/}}
vars: {{size: {{default: 7b}}}}
overlays: {{dev: {{retries: 1}}, 'two words': {{}}, '$(touch ran)': {{}}}}
"""

FREE = {
    *("IMAGE=DIGEST", "JOB", "N", "P", "R", "S"),
    *("FAULT", "H", "HOW", "NAME", "ID", "NAME|DIR", "QUEUE", "SIZE", "T", "URI"),
}
"""Words of ``--help`` for values that nobody can list."""


@pytest.fixture
def jobs(tmp_path):
    """A repository with a job, and branches, one of a name that a shell would run."""
    root = repository(tmp_path / "jobs")
    write_job(root, SPEC)
    write_job(root / "other", BUILT + "overlays: {prod: {retries: 1}}\n")
    commit(root)
    git(root, "branch", "topic")
    git(root, "branch", "$(touch${IFS}ran)")
    return root


def script(shell, tmp_path):
    path = tmp_path / f"_smspec.{shell}"
    path.write_text(smspec("--completion", shell).out)
    return path


def shell_environment():
    return environment(PATH=f"{BIN}:{os.environ['PATH']}", TERM="dumb")


def bash(line, jobs, tmp_path, breaks=" \t\n\"'><=;|&(:"):
    """Return what bash would offer for the end of a line."""
    lines = [
        f"source {script('bash', tmp_path)}",
        "COMP_LINE=$1 COMP_POINT=${#1} COMP_WORDBREAKS=$2",
        "_smspec smspec",
        'printf "%s\\n" "${COMPREPLY[@]}"',
    ]
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-c", "\n".join(lines), "bash", line, breaks],
        cwd=jobs,
        env=shell_environment(),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stderr == ""
    return done.stdout.split()


def fish(line, jobs, tmp_path):
    done = subprocess.run(
        ["fish", "--no-config", "-c", f"source {script('fish', tmp_path)}; complete -C $argv[1]", line],
        cwd=jobs,
        env={**shell_environment(), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stderr == ""
    return [offered.split("\t")[0] for offered in done.stdout.splitlines()]


def zsh(line, jobs, tmp_path):
    """Return what an interactive zsh lists for the end of a line, on a separate terminal."""
    setup = "; ".join(
        [
            "PS1='> '; unsetopt beep; setopt list_rows_first; LISTMAX=0; COLUMNS=30",
            "autoload -Uz compinit; compinit -u -D",
            f"source {script('zsh', tmp_path)}",
            "zstyle ':completion:*' verbose no; zstyle ':completion:*' list-separator ''",
            "listed() { zle list-choices; zle -R; print; print lis''ted }",
            "zle -N listed; bindkey '^I' listed; print rea''dy",
        ]
    )
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(jobs)
        os.execvpe("zsh", ["zsh", "-f", "-i"], {**shell_environment(), "HOME": str(tmp_path)})
    try:
        os.write(terminal, f"{setup}\n".encode())
        _read(terminal, "ready")
        os.write(terminal, f"{line}\t".encode())
        text = _read(terminal, "listed")
    finally:
        os.close(terminal)
        os.kill(process, 9)
        os.waitpid(process, 0)
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", " ", text).replace(line, "", 1).split()


def _read(terminal, word):
    """Return what a terminal shows before a line that begins with a word."""
    text, deadline = "", time.monotonic() + 60
    while f"\n{word}" not in text:
        readable, _, _ = select.select([terminal], [], [], max(0, deadline - time.monotonic()))
        assert readable, f"no end: {text!r}"
        text += os.read(terminal, 65536).decode("utf-8", "replace")
    return text.partition(f"\n{word}")[0]


OFFERS = {"bash": bash, "zsh": zsh, "fish": fish}


@pytest.fixture(params=SHELLS)
def offered(request, jobs, tmp_path):
    """Ask a shell; skip by name where it, or the command, is not installed."""
    if shutil.which(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    if not (BIN / "smspec").exists():
        pytest.skip("smspec is not installed as a command beside this Python")
    return lambda line: OFFERS[request.param](line, jobs, tmp_path)


def test_every_command_is_offered(offered):
    assert set(COMMANDS) <= set(offered("smspec "))


def test_options_are_offered(offered):
    assert {"--check", "--overlay", "--output"} <= set(offered("smspec build --"))


def test_choices_are_offered(offered):
    assert {"text", "json", "sarif", "github", "mermaid"} <= set(offered("smspec validate --format "))


def test_values_after_an_equals_sign_are_offered(offered):
    assert [word for word in offered("smspec render --iam-policy=") if "submitter" in word]


def test_overlays_of_the_spec_are_offered_unless_unsafe(offered, jobs):
    found = offered("smspec build -O ")
    assert "dev" in found
    assert not {word for word in found if "touch" in word or "words" in word}
    found = offered("smspec build other/job.yaml --overlay ")
    assert "prod" in found
    assert "dev" not in found
    assert not (jobs / "ran").exists()


def test_variables_are_offered(offered):
    assert "vars.size=" in offered("smspec build --set ")


def test_channels_and_kinds_of_changes_are_offered(offered):
    assert "train=" in offered("smspec run --data ")
    assert {"security", "cost"} <= set(offered("smspec diff --fail-on "))


def test_codes_and_keys_are_offered(offered):
    assert "SM204" in offered("smspec explain SM20")
    assert "channels.NAME.input_mode" in offered("smspec explain channels.NAME.in")


def test_revisions_are_offered(offered, jobs):
    assert {"main", "topic"} <= set(offered("smspec diff --base "))
    assert not (jobs / "ran").exists()


def test_files_are_offered(offered, request):
    # bash completes names of files itself where a function offers nothing.
    if "bash" not in request.node.callspec.id:
        assert "job.yaml" in offered("smspec validate job")


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_replaces_only_after_the_last_break(jobs, tmp_path):
    assert bash("smspec validate --format=sa", jobs, tmp_path) == ["sarif"]
    assert bash("smspec validate --format=sa", jobs, tmp_path, breaks=" \t\n") == ["--format=sarif"]
    assert bash("smspec render --iam-policy=s", jobs, tmp_path) == ["submitter"]


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_offers_no_name_that_it_would_execute(jobs, tmp_path):
    """bash puts a completion on the line as it is; a branch may be called `$(…)`."""
    assert bash("smspec diff --base ", jobs, tmp_path) == ["main", "topic"]


def test_grammars_match_the_argument_parsers():
    for grammar in grammars(COMMANDS):
        parser = argparse.ArgumentParser()
        importlib.import_module(COMMANDS[grammar.command][0]).add_arguments(parser)
        spelled = {name for action in parser._actions for name in action.option_strings}
        ours = {name for option in grammar.options for name in option.names}
        ours |= {f"{option.names[-1]}={value}" for option in grammar.options for value in option.attached}
        assert ours == spelled


def test_every_value_is_offered_or_listed_as_free():
    """A word of ``--help`` that is new gets a line in KINDS, or here in FREE."""
    values = [
        value
        for grammar in grammars(COMMANDS)
        for value in (grammar.position, *(o.value for o in grammar.options))
        if value
    ]
    unknown = {value.shown for value in values if value.kind == "word"} - FREE
    assert not unknown
    assert not FREE & set(KINDS)


@pytest.mark.parametrize("words", [["--completion"], ["--completion", "tcsh"]])
def test_unknown_shell_exits_2(words):
    done = smspec(*words)
    assert (done.status, done.out) == (2, "")
    assert "`smspec --completion bash`" in done.err


@pytest.mark.parametrize("content", [None, "a: [", "smspec: v1\nextends: [nowhere.yaml]\n", "\0"])
def test_missing_candidates_are_not_an_error(content, tmp_path):
    if content is not None:
        (tmp_path / "job.yaml").write_text(content)
    for topic in ("overlays", "variables", "channels"):
        assert smspec("--completion", topic, cwd=tmp_path) == (0, "", "")


def test_every_code_is_a_topic():
    assert set(explained_codes()) <= set(smspec("--completion", "topics").out.splitlines())
