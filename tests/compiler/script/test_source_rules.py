"""What a job sets is compared with the texts of its source, and reported only where the texts show it."""

import contextlib
import io
import math
import re
import time

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from smspec.script.printed_lines import printed_lines
from smspec.service.metric_pattern import letters, literal_before_value, most_steps
from smspec.source import SourceText
from support.script.read_programs import codes
from support.small_job import BUILT, write_job
from support.smspec_command import smspec

PIPE = {"clicks": {"s3": "s3://example-data/ctr/clicks/", "input_mode": "Pipe"}}
CHECKPOINTS = {"s3": "s3://example-models/checkpoints/"}


def found(text, beside=None, **changes):
    return [code for code, _ in codes(text, beside, **changes)]


def metrics(regex):
    return {"metrics": [{"name": "loss", "regex": regex}]}


PRINTS = {
    "an f-string": 'print(f"Train Loss: {x:.4f}")',
    "several arguments": 'print("Train Loss:", x)',
    "format": 'print("Train Loss: {:.3f}".format(x))',
    "percent": 'print("Train Loss: %.3f" % x)',
    "a sum": 'print("Train Loss: " + str(x))',
    "a logger": 'import logging\nlogging.getLogger().info("Train Loss: %s", x)',
    "a later print": 'line = f"Train Loss: {x}"\nprint(line)',
    "a value before": 'print(f"[{x}] Train Loss: {x}, Test Loss: {x}")',
}


@pytest.mark.parametrize("text", PRINTS.values(), ids=PRINTS)
@pytest.mark.parametrize(
    "regex", ["train loss: ([0-9.]+)", "Train_Loss=([0-9.]+)", ".*Train Loss = (.*?);", "TrainLoss:([0-9.]+)"]
)
def test_different_spelling_of_a_metric_is_reported(text, regex):
    assert found(f"x = 0.5\n{text}\n", **metrics(regex)) == ["SM524"]


@pytest.mark.parametrize("text", PRINTS.values(), ids=PRINTS)
@pytest.mark.parametrize("regex", ["Train Loss: ([0-9.]+)", "(?i)train loss: ([0-9.]+)", r"Loss:\s*(\S+)", "loss=(.*)"])
def test_matching_or_foreign_metric_is_not_reported(text, regex):
    assert found(f"x = 0.5\n{text}\n", **metrics(regex)) == []


def test_number_after_a_word_is_not_the_name_of_a_metric():
    """`epoch 3: 0.5` is printed too, but never `epoch loss: 0.5`."""
    text = "x = 1\nprint(f'epoch {x}: {x}')\nprint(f'Loss: {x}')\n"
    assert found(text, **metrics("loss: ([0-9.]+)")) == ["SM524"]
    assert found(text, **metrics("epoch loss: ([0-9.]+)")) == []


UNCERTAIN = {
    "a name from elsewhere": 'print(f"{name}={x}")\nprint(f"loss: {x}")',
    "another string": 'NAME = "loss="\nprint(f"loss: {x}")',
    "another word": 'print(f"val_loss: {x}")',
    "words before": 'print(f"Test loss: {x}")',
    "a file name": 'open(f"loss-{x}.txt")',
    "an exception": 'raise ValueError(f"loss: {x}")',
    "a library that prints": 'import keras\nprint(f"Loss: {x}")',
    "another file": "import other\nprint(f'loss: {x}')",
}


@pytest.mark.parametrize("text", UNCERTAIN.values(), ids=UNCERTAIN)
def test_metric_that_may_be_printed_is_not_reported(text):
    assert found(f"x = name = 1\n{text}\n", {"other": 'print(f"loss={1}")'}, **metrics("loss=([0-9.]+)")) == []


words = st.lists(st.sampled_from(["train", "Loss", "val", "ACC", "f1", "Score"]), min_size=1, max_size=3)
separators = st.sampled_from(["", " ", "_", ": ", "=", " = ", "-", ":", "/"])


@given(words, words, separators, separators, st.sampled_from(["%.4f", "%d", "%s"]), st.sampled_from([" ", "_", "-"]))
@settings(max_examples=100, deadline=None)
def test_reported_metric_never_matches_the_log(printed, searched, after, end, form, between):
    """A metric is reported exactly if only its case and separators differ from what a real run prints."""
    text = f'print("{between.join(printed)}{after}{form}" % 3)\n'
    literal = between.join(searched) + end
    log = io.StringIO()
    with contextlib.redirect_stdout(log):
        exec(text)
    is_found = re.search(re.escape(literal) + "([0-9.]+)", log.getvalue()) is not None
    is_near = letters(literal) == letters(between.join(printed))
    assume(len(letters(literal)) > 2 and (literal not in text or is_found))
    assert (found(text, **metrics(re.escape(literal) + "([0-9.]+)")) == ["SM524"]) == (is_near and not is_found)


@given(
    st.lists(
        st.sampled_from([r"loss", "=", r"\s", r"\d+", ".*", "[a-z]+", "[:=]", "s?", "(", ")", "|", "^", r"\b", "{2}"]),
        max_size=9,
    )
)
@settings(max_examples=100, deadline=None)
def test_literal_is_what_every_match_contains(parts):
    pattern = "".join(parts) + "([0-9.]+)"
    literal = literal_before_value(pattern)
    try:
        compiled = re.compile(pattern)
    except re.error:
        return
    if literal is None or most_steps(pattern, 20) == math.inf or compiled.groups != 1:
        return
    for line in ("loss=1", "loss = 12", "lossloss: 3", "xx loss 1loss=2", "1:=loss\t5"):
        match = compiled.search(line)
        assert match is None or letters(line[: match.start(1)]).endswith(letters(literal))


HOSTILE = [
    "a*a*a*a*Loss=(x)",
    "a?" * 40 + "a" * 40 + "Loss=(x)",
    r"\\*\\*\\*\\*\\*\\*Loss=(x)",
    "Loss=(a|aa|a)" + "(a|aa|a)" * 30 + "x",
    "Loss=((a+)+)+x",
    r"Loss=(a*)(\1a)*x",
    "Loss=(a*)(?P<b>a*)(?P=b)(?P=b)x",
    "(?x)# [\na*a*a*a*a*a*a*\n# ]\nLoss=(x)",
    "Loss=(?:.*.*.*.*.*.*x)",
    "Loss=((((){999}){999}){999}x)",
    "[^b]*[^b]*[^b]*[^b]*[^b]*Loss=(x)",
    "a{1,9}a{1,9}a{1,9}a{1,9}a{1,9}a{1,9}a{1,9}a{1,9}Loss=(x)",
]


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_hostile_regex_of_a_metric_takes_a_bounded_time(number):
    lines = "".join(f'print("{text * 150}loss={text * 150}", 1)\n' for text in ("a", r"\\", "a") * 20)
    started = time.process_time()
    found(lines, **metrics(HOSTILE[number]))
    assert time.process_time() - started < 4


def test_printed_lines_of_broken_text_are_unknown():
    assert printed_lines(SourceText("train.py", "print(")) is None


NO_CHECKPOINTS = "print('training')\n"


def test_unused_checkpoints_are_reported():
    assert found(NO_CHECKPOINTS, checkpoints=CHECKPOINTS) == ["SM528"]
    assert found(NO_CHECKPOINTS) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"hyperparameters": {"resume": "yes"}},
        {"environment": {"STATE": "/opt/ml/checkpoints"}},
        {"entry_point": {"script": "train.py", "args": ["--save", "/opt/ml/checkpoints"]}},
        {"entry_point": {"command": ["python", "train.py", "/opt/ml/checkpoints"]}},
    ],
)
def test_checkpoints_of_arguments_are_not_reported(changes):
    assert found(NO_CHECKPOINTS, checkpoints=CHECKPOINTS, **changes) == []


@pytest.mark.parametrize(
    "text",
    ["save('/opt/ml/checkpoints')", "os.path.join('/opt/ml', name)", "# resume here", "args.ckpt", "CheckPoint()"],
)
def test_mentioned_checkpoints_are_not_reported(text):
    assert found(f"{text}\n", checkpoints=CHECKPOINTS) == []
    assert found(NO_CHECKPOINTS, {"other": text}, checkpoints=CHECKPOINTS) == []


@pytest.mark.parametrize(
    "path", ["/opt/ml/checkpoint", "/opt/ml/ckpt/x.pt", "/tmp/checkpoints", "/opt/ml/my/checkpoints/"]
)
def test_other_directory_of_checkpoints_is_reported(path):
    assert found(f"save({path!r})\n", checkpoints=CHECKPOINTS) == ["SM529"]
    assert found(f"save({path!r})\nload('/opt/ml/checkpoints')\n", checkpoints=CHECKPOINTS) == []
    assert found(f"save({path!r})\n", checkpoints={**CHECKPOINTS, "local": path.rstrip("/")}) == []
    assert found(f"# save({path!r})\n'''{path}'''\n", checkpoints=CHECKPOINTS) == []


@pytest.mark.parametrize(
    "path", ["/opt/ml/model/checkpoint-1", "/opt/ml/output/data/ckpt", "checkpoints/last", "/data/ckpt"]
)
def test_directory_of_another_purpose_is_not_reported(path):
    assert found(f"save({path!r})\n", checkpoints=CHECKPOINTS) == []


COMMAND = {"entry_point": {"command": ["python", "train.py"]}, "hyperparameters": {"epochs": 3}}


def test_hyperparameters_of_a_command_are_reported():
    assert found("print('x')\n", **COMMAND) == ["SM532"]
    assert found("print('x')\n", **{**COMMAND, "hyperparameters": None}) == []
    assert found("print('x')\n", **{**COMMAND, "entry_point": {"command": ["bash", "-c", "exec x"]}}) == []


@pytest.mark.parametrize(
    "read", ["SM_HPS", "SM_HP_EPOCHS", "SM_USER_ARGS", "/opt/ml/input/config/hyperparameters.json"]
)
def test_hyperparameters_that_are_read_are_not_reported(read):
    assert found(f"x = '{read}'\n", **COMMAND) == []
    assert found("print('x')\n", {"other": f"x = '{read}'\n"}, **COMMAND) == []


EMPTY = {"entry_point": {"script": "train.py", "args_style": "none"}, "hyperparameters": {"suffix": ""}}
READ = "import json, os\nh = json.load(open('/opt/ml/input/config/hyperparameters.json'))\n"


def test_empty_string_for_a_reader_of_the_file_is_reported():
    assert found(READ + "print(h['suffix'])\n", **EMPTY) == ["SM217"]
    joined = "import os\nopen(os.path.join(os.environ['SM_INPUT_CONFIG_DIR'], 'hyperparameters.json'))\n"
    assert found(joined, **EMPTY) == ["SM217"]
    assert found("import settings\n", {"settings": READ}, **EMPTY) == ["SM217"]
    assert found(READ.replace("load(", "loads(").replace("')", "').read()"), **EMPTY) == ["SM217"]
    assert found(READ, **{**EMPTY, "hyperparameters": {"suffix": "x"}}) == []


def test_empty_string_matters_only_to_modules_that_are_reached(tmp_path):
    spec = BUILT.replace("{epochs: 2}", "{suffix: ''}").replace(": train.py", ": {script: train.py, args_style: none}")
    write_job(tmp_path, spec, **{"src/settings.py": READ})
    assert "SM217" not in smspec("validate", cwd=tmp_path).out
    write_job(tmp_path, spec, **{"src/settings.py": READ, "src/train.py": "import settings\nprint(settings.h)\n"})
    assert "SM217" in smspec("validate", cwd=tmp_path).out
    command = spec.replace("{script: train.py, args_style: none}", "{command: [./train.sh]}")
    shell = "#!/bin/sh\ncat /opt/ml/input/config/hyperparameters.json\n"
    write_job(tmp_path, command, **{"src/train.sh": shell})
    assert "SM217" in smspec("validate", cwd=tmp_path).out


@pytest.mark.parametrize(
    "text",
    [
        READ + "h = {k: json.loads(v) for k, v in h.items()}\n",
        READ + "h = {k: v.strip('\"') for k, v in h.items()}\n",
        READ + "if h['suffix'] == '\"\"':\n    h['suffix'] = ''\n",
        "import json, os\njson.dump({}, open(os.path.join(os.environ['SM_MODEL_DIR'], 'hyperparameters.json'), 'w'))\n",
        '# /opt/ml/input/config/hyperparameters.json\n"""/opt/ml/input/config/hyperparameters.json"""\n',
        "import os\nprint(os.environ['SM_HP_SUFFIX'])\n",
    ],
)
def test_empty_string_that_is_decoded_is_not_reported(text):
    assert found(text, **EMPTY) == []


def test_unread_pipe_channel_is_reported():
    assert found("print('x')\n", channels=PIPE) == ["SM536"]
    assert found("print('x')\n", channels=PIPE, hyperparameters={"data": "clicks"}) == []
    assert found("print('x')\n", channels={"clicks": {**PIPE["clicks"], "input_mode": "File"}}) == []


@pytest.mark.parametrize(
    "text",
    [
        "open('/opt/ml/input/data/clicks_0', 'rb')",
        "os.environ['SM_CHANNEL_CLICKS']",
        "read('clicks')",
        "parser.add_argument('--clicks')",
        "for name in json.loads(os.environ['SM_CHANNELS']): pass",
        "os.environ[f'SM_CHANNEL_{x}']",
        "open('/opt/ml/input/data/' + x)",
        "open(f'/opt/ml/input/data/{x}_0')",
        "os.path.join('/opt/ml/input', 'data', x)",
        "from sagemaker_tensorflow import PipeModeDataset",
    ],
)
def test_pipe_channel_that_may_be_read_is_not_reported(text):
    assert found(f"{text}\n", channels=PIPE) == []
