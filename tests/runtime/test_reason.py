"""Failure reasons of recorded programs and of random exceptions."""

import builtins
import re
import signal
import subprocess
import time
import traceback
import unicodedata

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from smspec_runtime.failure import failure_text, reason_in
from smspec_runtime.outcome import Outcome
from smspec_runtime.progress_bar import split_bar
from smspec_runtime.reason import reason_of
from smspec_runtime.reason.ending import signal_text
from smspec_runtime.reason.noise import ends_message, is_noise
from smspec_runtime.supervisor import KEPT_ERRORS
from support.endings.ending import CODE
from support.endings.recorded_endings import ENDINGS
from support.examples import at_most

PIECES = (
    "Traceback (most recent call last):\n",
    "[rank1]: Traceback (most recent call last):\n",
    "[1,0]<stderr>:Traceback (most recent call last):\n",
    '  File "x.py", line 1, in f\n',
    "    raise\n",
    "ValueError: boom\n",
    "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n",
    "Root Cause (first observed failure):\n",
    "  exitcode  : -9 (pid: 1)\n",
    "  rank      : 1 (local_rank: 1)\n",
    "  traceback : Traceback (most recent call last):\n",
    "\nDuring handling of the above exception, another exception occurred:\n\n",
    "Original Traceback (most recent call last):\n",
    '"""\n',
    "  + Exception Group Traceback (most recent call last):\n",
    "  +-+---------------- 1 ----------------\n",
    "    | ValueError: x\n",
    "    +------------------------------------\n",
    "-" * 74 + "\n",
    "  Process name: [[1,1],0]\n  Exit code:    1\n",
    "Exception in thread T:\n",
    "INFO: x\n",
    "error: y\n",
    "Error: z\n    at f (x.js:1)\n",
    "│ box\n",
    "╰──────╯\n",
    " 45%|###   | 45/100 [00:01\r",
    "terminate called after throwing an instance of 'x'\n  what():  y\n",
    "a" * 60,
    "[" * 60,
    "    ",
    "\n",
    "2024-01-01 12:00:00,000 ",
)


@pytest.mark.parametrize("ending", ENDINGS, ids=lambda ending: ending.name)
def test_recorded_endings_have_their_reasons(ending):
    """What a program wrote for real gives the reason that its author would."""
    status, number = ending.ended
    command = [ending.command, "-m", "pip"] if ending.name.startswith("pip-") else [ending.command, ending.file]
    found = reason_of(
        Outcome(status, number, output=ending.stderr[-KEPT_ERRORS:]), command, is_pip=command[1:] == ["-m", "pip"]
    )
    assert found.text == ending.reason.replace("{dir}", CODE)


BARS = {
    "tqdm": "\r 50%|█████     | 50/100 [00:00<00:00, 123.45it/s]",
    "described": "\rEpoch 1:  50%|█████     | 50/100 [00:00<?, ?it/s, loss=[0.1, 0.2]]",
    "no-total": "\r50it [00:00, 99.1it/s]",
    "bytes": "\r 12%|#         | 1.20G/9.9G [01:00:12<00:00, 99MB/s] ",
    "rich": "\r\x1b[2KTraining... ━━━━━━━━━━━━╸━━━━━━━━━━━━━━━━━━━━━━━━━━━  40% 0:00:03",
    "rich-start": "Working... ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━   0% -:--:--",
    "pip": "   ━━━━━━━━━━━━━╺━━━━━━━━━━━━━━━━━━━━━━━━━━ 12.3/45.6 MB 5.0 MB/s eta 0:00:03",
    "click": "\rEpochs  [##############----------------------]   40%  1d 00:00:03",
    "click-position": "\r  [####----]  4/10",
    "wget": "\rdata.zip      40%[=======>            ]   1.20G  --.-KB/s    eta 3m 5s  ",
    "wget-end": "\rdata.zip     100%[===================>]  12.35M  5.00MB/s    in 2.4s    ",
    "keras-2": "\r 4/10 [===========>..................] - ETA: 1:02 - loss: 1.2e-05 - val/a_c: nan",
    "keras-3": "\r\x1b[1m 4/10\x1b[0m \x1b[32m━━━━\x1b[0m\x1b[37m━━━━\x1b[0m \x1b[1m3s\x1b[0m 50ms/step - loss: 0.5",
    "own": "\rTraining |=====>    | 45% ETA 0:00:09",
    "own-complete": "\rProgress: |█████-----| 50.0% Complete",
    "own-blocks": "\r[██████░░░░] 45/100 ",
    "progress": "\rProcessing |########        | 45/100",
    "progressbar2": "\r 45% (45 of 100) |####     | Elapsed Time: 0:00:04 ETA:   0:00:05",
    "progressbar2-start": "\r  0% (0 of 100) |         | Elapsed Time: 0:00:00 ETA:  --:--:--",
    "progressbar2-end": "\r100% (9 of 9) |#########| Elapsed Time: 0:00:10 Time:  0:00:10",
    "progressbar": "\r 45% |########               |",
    "alive": "\rfit |█████▌    | ▅▃▁ 45/100 [45%] in 0.5s (99.1/s, eta: 1s) ",
    "alive-guess": "\ron 12: |█████     | 45/100 [45%] in 0s (~0s, 99.1/s) ",
    "fastprogress": "\r |█████-----| 45.00% [45/100 00:00<00:02]",
    "lightning": "\rEpoch 0/2 ━━━━━━━━━━ 45/100 0:00:01 • 0:00:02 45.23it/s",
    "rank": "\r[1,0]<stderr>: 50%|█████     | 50/100 [00:00<00:00, 1.5s/it]",
}
LAST_WORDS = {
    "3 files are missing\n": "3 files are missing",
    "failed to open x\n": "failed to open x",
    "FATAL: license server unreachable\n": "FATAL: license server unreachable",
    "ERROR:root:cannot reach it\n": "ERROR:root:cannot reach it",
    "terminate called after throwing an instance of 'std::runtime_error'\n  what():  no\n": (
        "terminate called after throwing an instance of 'std::runtime_error' what(): no"
    ),
    'Traceback (most recent call last):\n  File "a.py", line 3, in f\n    f()\nValueError: x\n': "ValueError: x",
    "\n": "no message",
}


OPEN = {
    "number": {"click-position", "keras-3", "progress"},
    "small": {"lightning"},
}
"""Where a message would make another number or another unit of the end of the bar."""
NAMES = ("number", "small", "fatal", "logged", "abort", "traceback", "nothing")
BEHIND = [
    pytest.param(bar, written, id=f"{name}-{bar}")
    for name, written in zip(NAMES, LAST_WORDS, strict=True)
    for bar in BARS
    if bar not in OPEN.get(name, ())
]


@pytest.mark.parametrize(("bar", "written"), BEHIND)
def test_words_behind_a_progress_bar_are_the_reason(bar, written):
    """A bar does not end its line, so the next message stands on it."""
    found = reason_of(Outcome(status=4, output=(BARS[bar] + written).encode()), ["python3", "train.py"])
    assert found.text == LAST_WORDS[written]


@pytest.mark.parametrize("bar", BARS)
def test_message_before_a_progress_bar_is_the_reason(bar):
    output = b"Error: no licence\n" + BARS[bar].encode() + b"\n"
    assert reason_of(Outcome(status=4, output=output), ["python3", "train.py"]).text == "Error: no licence"


@pytest.mark.parametrize(
    "line",
    [
        "[==========] 3 tests ran. (5 ms total)",
        "[----------] 1 test from Foo",
        "━━━━━━━━━━━━━━━ Results ━━━━━━━━━",
        "====== 3 failed, 2 passed in 0.5s ======",
        "total 3 [=====] in all",
        "|=====| 3 items failed",
        "|=====| [3 errors] in a.py",
        "|-----|-----|",
        "|     | 45% | 3 |",
        "accuracy 45% |     | 3.0s",
        "|=====| 2024-01-02 10:00:00 ERROR",
    ],
)
def test_rules_and_headings_are_no_progress_bars(line):
    assert split_bar(line) == [line]


ABORT = "terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc\n"
ABORTED = " ".join(ABORT.split())


@pytest.mark.parametrize(
    ("status", "behind", "reason"),
    [
        (250, "", ABORTED + " (exit status -6: a child process was ended by SIGABRT: aborted)"),
        (134, "", ABORTED),
        (
            1,
            'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    f()\n'
            "subprocess.CalledProcessError: Command './a' died with <Signals.SIGABRT: 6>.\n",
            f"subprocess.CalledProcessError: Command './a' died with <Signals.SIGABRT: 6>.; after {ABORTED}",
        ),
    ],
    ids=["call", "shell", "check_call"],
)
def test_abort_of_a_child_keeps_its_class(status, behind, reason):
    """As of `sys.exit(subprocess.call([…]))`, whose status is that of the child."""
    found = reason_of(Outcome(status=status, output=("hello\n" + ABORT + behind).encode()), ["python3", "train.py"])
    assert found.text == reason


@pytest.mark.parametrize("begun", ["\r 5/10 - loss: 0.5", "5/10 [==>...] - loss: 0.5", "loading… ", "x: "])
@pytest.mark.parametrize(
    "message",
    [
        "terminate called after throwing an instance of 'Quota'\n  what():  no room\n",
        "free(): invalid pointer\n",
        "Fatal Python error: Aborted\n\nThread 0x1\n",
    ],
)
def test_abort_on_the_line_of_other_words_is_the_reason(begun, message):
    """A Keras bar, or a message that awaits its end, does not end its line."""
    found = reason_of(Outcome(status=0, signal=6, output=(begun + message).encode()), ["python3", "train.py"])
    assert found.text == " ".join(message.partition("\n\n")[0].split()) + " (SIGABRT: aborted)"


def test_long_numbers_are_no_progress_bars():
    """Without a limit, the first line takes days."""
    number = "1" * 40_000
    for line in (
        f" 1%||{number}/{number} [",
        f" 1%||1/{number} [",
        f"{number} [1:1{':1' * 30_000}",
        f"1 [1:1,{number}",
        "━" * 40_000,
        "[=====]" * 6_000,
        f"[=====] {number}",
        "[=====] -" + " " * 40_000,
        "|=" * 20_000,
        "|#####" * 8_000,
        "1% (a)" * 8_000 + "|",
        "|=====| in" + " " * 40_000,
        "|=====|" + " (1/s" * 8_000,
    ):
        assert split_bar(line) == [line]


MARKS = re.compile(r"Traceback|^(The above|During handling)|Exception ignored|Exception in|Process |^\[", re.MULTILINE)
"""What a message must not hold if it is to be told from what stands around it."""


def is_plain(message):
    """Whether no line of a message looks like the end of one: a log, a warning, another traceback."""
    lines = message.split("\n")
    return not MARKS.search(message) and not any(map(ends_message, lines[1:])) and not is_noise(lines[-1])


def is_known_to_every_python(character):
    """Return whether a character is in the oldest Unicode tables: the text of a KeyError escapes what has no entry."""
    return unicodedata.ucd_3_2_0.category(character) != "Cn"


characters = st.characters(codec="utf-8", exclude_categories=["Cc", "Cn", "Cs"], include_characters="\t")
message_lines = st.text(characters.filter(is_known_to_every_python), max_size=30)
messages = st.lists(message_lines, min_size=1, max_size=4).map("\n".join)
kinds = st.sampled_from(["ValueError", "KeyError", "OSError", "Custom", "AssertionError"])
steps = st.lists(st.tuples(kinds, messages.filter(is_plain)), min_size=1, max_size=4)
RAISE = """
import sys
class Custom(Exception): pass
def deeper(n, error):
    if n: deeper(n - 1, error)
    raise error
def chain(steps, links, depth):
    (kind, message), *rest = steps
    error = (Custom if kind == "Custom" else getattr(__builtins__, kind))(message)
    if not rest: deeper(depth, error)
    try:
        chain(rest, links[1:], depth)
    except Exception as inner:
        if links[0]: raise error from inner
        raise error
chain(*eval(sys.stdin.read()))
"""


def printed(kind, message):
    """Return an exception as Python prints it."""
    error = (type("Custom", (Exception,), {"__module__": "__main__"}) if kind == "Custom" else getattr(builtins, kind))(
        message
    )
    return "".join(traceback.format_exception_only(error)).replace("__main__.", "").rstrip("\n")


@pytest.fixture(scope="module")
def raiser(tmp_path_factory):
    path = tmp_path_factory.mktemp("raiser") / "train.py"
    path.write_text(RAISE)
    return path


@settings(max_examples=20, suppress_health_check=list(HealthCheck), deadline=None)
@given(steps=steps, links=st.lists(st.booleans(), min_size=3, max_size=3), depth=st.integers(0, 30))
def test_any_exception_is_a_whole_reason(pythons, raiser, steps, links, depth):
    """The reason is the exception raised last as Python prints it, whatever its message, then what led to it."""
    code = repr((steps, links, depth)).encode("utf-8", "surrogatepass")
    first = printed(*steps[0])
    for python in pythons:
        done = subprocess.run([python, raiser], input=code, capture_output=True, env={"PYTHONUTF8": "1"})
        assert done.returncode == 1
        shown = reason_of(Outcome(1, output=done.stderr), ["python", "train.py"]).text.replace("__main__.", "")
        assert words(shown).startswith(words(first)), python
        rest = words(shown)[len(words(first)) :]
        for place, step in enumerate(steps[1:]):
            if words(printed(*step)) not in words("; ".join(printed(*one) for one in steps[: place + 1])):
                cause = "caused by " if links[place] else "while handling "
                assert cause + words(printed(*step)) in rest, python


def words(text):
    return " ".join(text.split())


@settings(max_examples=at_most(300), deadline=None)
@given(
    st.lists(st.sampled_from([*PIECES]) | st.text(max_size=20), max_size=25).map("".join),
    st.sampled_from([(1, 0), (3, 0), (137, 9), (134, 6), (143, 15), (247, 0), (255, 0)]),
    st.sampled_from(["python", "torchrun", "mpirun", "./run.sh"]),
    st.booleans(),
)
def test_any_text_has_a_reason(text, ended, command, is_pip):
    """Nothing on standard error breaks the reader: a failure always has a reason of one form."""
    found = reason_of(Outcome(*ended, output=text.encode("utf-8", "replace")), [command, "x"], is_pip)
    assert found.text.strip()
    assert len(failure_text(Outcome(*ended, output=text.encode()), [command], []).encode()) <= 1024


@pytest.mark.parametrize("piece", [*PIECES, "Original Traceback (most recent call last):\n a\nE:\n", 'E:\n"""\n'])
def test_long_texts_are_searched_in_linear_time(piece):
    """Of 64 KiB that repeat one line; squared, it would take minutes."""
    began = time.process_time()
    reason_of(Outcome(1, output=(piece * 65536)[: 1 << 16].encode()), ["python"])
    assert time.process_time() - began < 20


@pytest.mark.parametrize("number", range(1, 129))
def test_every_signal_has_a_reason(number):
    text = signal_text(number)
    assert text and (number in {*signal.Signals} or text == f"signal {number}")


@pytest.mark.parametrize("title", ["ExecuteUserScriptError", "InstallRequirementsError"])
def test_peers_get_the_reason_without_its_title(title):
    """The other hosts begin their own failure with a title."""
    output = b"Traceback (most recent call last):\nValueError: bad: 3\n"
    assert reason_in(failure_text(Outcome(1, output=output), ["train.py"], [], title)) == "ValueError: bad: 3"
