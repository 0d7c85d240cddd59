"""Any text survives quoting for Dockerfiles, shells, and docstrings."""

import ast
import json
import subprocess

import dockerfile
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from smspec.render import quoting
from support.render.docker_quoting import meaning

# What representable.py lets through: no control characters, no line separators, no lone surrogates.
printable = st.text(
    st.characters(exclude_categories=("Cc", "Cs"), exclude_characters="\u2028\u2029")
    | st.sampled_from("\\\"'$`{}[]<>#=&;|!*~ -"),
    max_size=30,
)
words = st.lists(printable, min_size=1, max_size=5)


def instructions(text):
    return [(command.cmd, command.value) for command in dockerfile.parse_string(f"FROM base\n{text}\nUSER end\n")[1:]]


@given(printable)
@example("\\")
@example('a\\"b\\')
@example("$HOME ${HOME} $$ \\$")
@example("'single' \"double\" `back`")
@example("<<EOF")
@example("# not a comment")
def test_env_value_is_a_single_literal_word(value):
    end = ("USER", ("end",))
    assert instructions(quoting.env_line("NAME", value)) == [("ENV", ("NAME", quoting.double_quoted(value))), end]
    assert meaning(quoting.double_quoted(value)) == value


@given(printable)
def test_label_is_a_single_literal_word(value):
    end = ("USER", ("end",))
    assert instructions(quoting.label_line("a.b", value)) == [("LABEL", ("a.b", quoting.double_quoted(value))), end]


@given(words)
def test_exec_form_preserves_words(values):
    text = quoting.exec_form(values)
    assert json.loads(text) == values
    assert instructions(f"ENTRYPOINT {text}") == [("ENTRYPOINT", tuple(values)), ("USER", ("end",))]


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), min_size=1))
@example("--mount=type=secret cat")
@example('["not", "an", "array"]')
@example("cat <<EOF\nRUN this\nEOF\n")
@example("ends with \\")
def test_user_command_is_one_instruction(script):
    text = f"RUN {quoting.shell_form(script)}"
    assert instructions(text) == [("RUN", ("/bin/sh", "-c", script)), ("USER", ("end",))]


@given(words)
def test_shell_reads_the_words_unchanged(values):
    script = "printf '%s\\0' " + quoting.shell_words(values, " \\\n    ")
    done = subprocess.run(["/bin/sh", "-c", script], capture_output=True, check=True)
    assert done.stdout.decode().split("\0")[:-1] == values


@given(st.text())
@example('"""')
@example("\\")
@example("\\N{BULLET}")
@example("\ud800")
@example("a\r\nb")
def test_docstring_fits_any_text_on_one_line(text):
    source = f'"""Runs `{quoting.docstring(text)}`."""\n'
    assert source.isprintable() or source[:-1].isprintable()
    assert ast.literal_eval(source.strip()) == f"Runs `{text}`."


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("plain", '"plain"'),
        ("", '""'),
        ("two words", '"two words"'),
        ('say "hi"', '"say \\"hi\\""'),
        ("$HOME", '"\\$HOME"'),
        ("C:\\dir", '"C:\\\\dir"'),
        ("ends in \\", '"ends in "\\\\""'),
    ],
)
def test_quoted_text_is_readable(value, written):
    assert quoting.double_quoted(value) == written
