"""The values of each metric are counted in the real logs, within a time and memory limit."""

import io
import re
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from smspec.local.running.training_request import TrainingRequest
from smspec.local.watch import metric_counts
from smspec.local.watch.metric_counts import MOST_VALUES, _Kept, count_metrics
from smspec_runtime.progress_bar import split_bar
from support.local.log_texts import logs


def counted(tmp_path, log, *regexes, hide=str, seconds=5.0):
    path = tmp_path / "algo-1.log"
    path.write_bytes(log if isinstance(log, bytes) else log.encode())
    definitions = [{"Name": f"m{index}", "Regex": regex} for index, regex in enumerate(regexes)]
    request = TrainingRequest({"AlgorithmSpecification": {"MetricDefinitions": definitions}})
    return count_metrics(request, [str(path)], hide, seconds)


def test_values_of_each_metric_are_counted(tmp_path):
    one, two = counted(tmp_path, "loss=0.5\nloss=0.25 loss=0.125\nacc: 3\n", r"loss=([0-9.]+)", r"acc: (\d)")
    shown = "m0: 3 values, the last is 0.125 (lowest 0.125, highest 0.5)"
    assert (one.matches, one.last, one.warning, str(one)) == (3, "0.125", "", shown)
    assert str(two) == "m1: 1 value, the last is 3"


def test_lowest_and_highest_value_of_many_are_exact(tmp_path):
    values = [f"{abs(index - 70_001) / 7}" for index in range(100_000)]
    (metric,) = counted(tmp_path, "".join(f"loss={value}\n" for value in values), r"loss=(\S+)")
    assert metric.range == ("0.0", str(70_001 / 7))
    (metric,) = counted(tmp_path, "loss=nan\nloss=1e-3\nloss=inf\nloss=-2\nloss=many\n", r"loss=(\S+)")
    assert metric.range == ("-2", "1e-3")
    (metric,) = counted(tmp_path, "loss=nan\n" * 3, r"loss=(\S+)")
    assert (metric.range, str(metric)) == (None, "m0: 3 values, the last is nan")


def test_metric_without_values_is_a_warning(tmp_path):
    (metric,) = counted(tmp_path, "Loss: 0.5\n", r"loss=([0-9.]+)")
    assert metric.warning == "no line of the log matches the regex of metric `m0`"
    assert str(metric) == "m0: no values"


@pytest.mark.parametrize(
    ("text", "regex", "cut"),
    [
        ("loss=1e-05", r"loss=([0-9.]+)", ("1", "1e-05")),
        ("loss=0.25", r"loss=([0-9]+)", ("0", "0.25")),
        ("loss=-0.5", r"loss=-?([0-9.]+)", ("0.5", "-0.5")),
        ("loss=1e-05", r"loss=([0-9.e-]+)", None),
        ("loss=0.5.", r"loss=([0-9]+\.[0-9]+)", None),
        ("step 3/10", r"step (\d+)", None),
        ("epoch-3", r"epoch-(\d+)", None),
        ("12% of it", r"(\d+)%", None),
        ("loss=1.50", r"loss=(1.5)", None),
    ],
)
def test_part_of_a_number_is_a_warning(tmp_path, text, regex, cut):
    (metric,) = counted(tmp_path, text, regex)
    assert metric.cut == cut
    assert ("extend its group" in metric.warning) == (cut is not None)


def test_text_that_is_not_a_number_is_a_warning(tmp_path):
    (metric,) = counted(tmp_path, "loss: tensor(0.5)\n", r"loss: (\S+)")
    assert metric.warning == "metric `m0` reads `tensor(0.5)`, which is not a number"


def test_secret_in_a_value_is_hidden(tmp_path):
    (metric,) = counted(tmp_path, "key: hunter2\n", r"key: (\S+)", hide=lambda text: text.replace("hunter2", "***"))
    assert metric.last == "***"


def test_progress_bars_and_broken_text_are_searched(tmp_path):
    (metric,) = counted(tmp_path, b"\xff loss=1\rloss=2\r\nloss=3", r"loss=([0-9.]+)")
    assert (metric.matches, metric.last) == (3, "3")


def test_endless_search_is_stopped(tmp_path):
    start = time.process_time()
    (metric,) = counted(tmp_path, "a" * 5000, r"(a+)+$b", seconds=0.2)
    assert time.process_time() - start < 3
    assert not metric.is_whole and metric.warning == ""
    assert "took too long" in str(metric)


def test_long_line_is_read_in_parts(tmp_path):
    (metric,) = counted(tmp_path, "x" * 200_000 + "\nloss=7\n", r"loss=(\d)")
    assert metric.last == "7"


def test_invalid_regexes_are_left_out(tmp_path):
    assert counted(tmp_path, "x", "(", "loss=[0-9]") == ()
    assert re.compile("(x)").groups == 1


@given(st.integers(1, 5000))
@example(500)
@example(501)
def test_kept_values_are_bounded_and_end_with_the_last(count):
    kept = _Kept()
    for number in range(count):
        kept.add(str(number))
    found = kept.values("m", "algo-1", str)
    assert found.count == count and len(found.values) <= MOST_VALUES + 1
    assert list(found.values[:-1]) == list(range(0, count, found.every))[: len(found.values) - 1]
    assert found.values[-1] == count - 1


def test_secret_of_which_a_value_is_a_part_is_hidden(tmp_path):
    log, secret = "pin=8236453719\n", "8236453719"
    (metric,) = counted(tmp_path, log, r"pin=(\d\d)", hide=lambda text: text.replace(secret, "***"))
    assert metric.cut == ("82", "***") and secret not in metric.warning


def test_values_that_are_secret_or_no_number_have_no_curve(tmp_path):
    """JSON has no NaN."""
    (metric,) = counted(
        tmp_path, "v=1\nv=nan\nv=1e999\nv=x\nv=123456\n", r"v=(\S+)", hide=lambda text: text.replace("123456", "***")
    )
    assert [values.values for values in metric.values] == [(1.0, None, None, None, None)]


REGEXES = (
    *(
        r"loss=([0-9.]+)",
        r"loss[=:] ?([0-9.e-]+)",
        r".*acc: (\S+)",
        r"^step (\d+)",
        r"(\d+)$",
        r"(\S*)",
        r"\s(\d)",
        r"(.)\Z",
    ),
    *(
        r"\[(\d+)",
        r"INFO|loss=(.)",
        r"(?i)LOSS=(.)",
        r"los?s=(.)",
        r"lo*ss=(.)",
        r"x{2}(x)",
        r"ms?(.*)",
        r"[^a](.)",
        r"\Aa(b)",
    ),
    *(r"(?P<one>s)=", r"\|\-(-)", r"(?!loss)(.)", r"a(?i:B) (.)", r"é(é)", r"acc\: (.)", r" ?(\d+)it", r"1{0}(l)oss"),
)


def searched_singly(data, regex):
    """Return the values that an expression finds line by line."""
    found, file = [], io.BytesIO(data)
    while line := file.readline(1 << 16):
        text = line.decode("utf-8", "replace").rstrip("\r\n")
        start = text.rfind("\r") + 1
        first, *behind = split_bar(text[start:])
        for shown in (text[:start] + first, *behind):
            found += [match[1] for match in re.finditer(regex, shown) if match[1] is not None]
    return found


@pytest.mark.parametrize("block", [100, 70_000])
@given(logs(40))
@example(b"loss=1" * 11_000 + b"\nloss=2\n")
@example(b"\n\nloss=1\n\r\nloss=2\r\r\n\n12")
def test_blocks_of_a_log_have_the_same_metrics(tmp_path_factory, block, data):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(metric_counts, "_BLOCK", block)
        found = counted(tmp_path_factory.mktemp("log"), data, *REGEXES, seconds=60)
    for regex, metric in zip(REGEXES, found, strict=True):
        values = searched_singly(data, regex)
        assert (metric.matches, metric.last) == (len(values), values[-1][:40] if values else None), regex


@pytest.mark.parametrize(
    ("regex", "literal"),
    [
        (r"loss=([0-9.]+)", "loss="),
        (r".*?loss: (.)", "loss: "),
        (r"a\.b\[(.)", "a.b["),
        (r"los?s=(.)", "lo"),
        (r"loss+(.)", "loss"),
        (r"loss=(.)|acc=(.)", ""),
        (r"(?i)loss=(.)", ""),
        (r"(\d) loss", ""),
        (r"\d loss(.)", ""),
    ],
)
def test_lines_without_the_letters_of_an_expression_are_skipped(regex, literal):
    assert metric_counts.literal_in(regex) == literal
