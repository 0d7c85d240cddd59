"""External suites of malformed YAML, JSON, and hostile texts, where they are installed.

``SMSPEC_YAML_SUITES`` and ``SMSPEC_JSON_SUITES`` name directories, searched to the bottom; ``SMSPEC_NAUGHTY_STRINGS`` a
JSON file with a list of texts. Several are separated as in PATH. None of their files is kept here.
"""

import json
import os
from pathlib import Path

import pytest

from smspec.diagnostics import InvalidInput
from smspec.service.json_parser import decode_json_bytes, read_json
from smspec.spec.yaml.events import MAX_BYTES
from support.hostile_texts import HEAD
from support.smspec_command import smspec

REFUSED_ON_PURPOSE = {"y_object_duplicated_key.json", "y_object_duplicated_key_and_value.json"}
"""JSON to its grammar, but no two readers agree on what it says."""

COMMANDS = {
    "job.yaml": (["validate"], (0, 1)),
    "request.json": (["validate", "--api-json", "request.json"], (0, 1)),
    "source": (["import", "source"], (0, 1)),
    "base.yaml": (["validate", "jobs/extending.yaml"], (0, 1)),
    "old.yaml": (["diff", "old.yaml", "good.yaml"], (0, 1, 2)),
}


def suites(variable):
    """Return the paths that a variable of the environment names; skip the test where it names none."""
    found = [Path(path) for path in os.environ.get(variable, "").split(os.pathsep) if path]
    if not found:
        pytest.skip(f"{variable} names no suite")
    return found


def files_of(variable):
    files = [path for suite in suites(variable) for path in sorted(suite.rglob("*")) if path.is_file()]
    assert files
    return files


@pytest.fixture
def place(tmp_path):
    (tmp_path / "jobs").mkdir()
    (tmp_path / "jobs" / "extending.yaml").write_text(f"{HEAD}extends: [../base.yaml]\n")
    (tmp_path / "good.yaml").write_text(HEAD)
    return tmp_path


def validated(content, place, surfaces=COMMANDS):
    """Put a content in the place of each file that a command reads; return the statuses."""
    statuses = []
    for name in surfaces:
        words, allowed = COMMANDS[name]
        (place / name).write_bytes(content)
        done = smspec(*words, cwd=place)
        (place / name).unlink()
        assert done.status in allowed, done.err
        assert "Traceback" not in done.err
        assert done.out or done.err
        statuses.append(done.status)
    return statuses


def test_yaml_suite_never_crashes(place, record_property):
    outcomes = {}
    for path in files_of("SMSPEC_YAML_SUITES"):
        content = path.read_bytes()
        for name, status in zip(COMMANDS, validated(content, place), strict=True):
            outcomes[name, status] = outcomes.get((name, status), 0) + 1
        # As something that a job says, too: indented below a key, it is YAML wherever it was.
        validated(
            f"{HEAD}api:\n".encode() + b"".join(b"  " + line for line in content.splitlines(True)), place, ["job.yaml"]
        )
    print(outcomes)
    record_property("outcomes", str(outcomes))


def test_json_suite_is_accepted_and_rejected_as_expected(place):
    counts = {"y": 0, "n": 0, "i": 0, "other": 0}
    for path in files_of("SMSPEC_JSON_SUITES"):
        content = path.read_bytes()
        kind = path.name[0] if path.name[:2] in ("y_", "n_", "i_") and path.suffix == ".json" else "other"
        try:
            read_json(decode_json_bytes(path.name, content))
            is_taken = True
        except InvalidInput as rejected:
            is_taken = False
            lines = content.decode("utf-8", "replace").split("\n")
            for found in rejected.diagnostics:
                assert 1 <= found.span.line <= len(lines), path.name
                assert 1 <= found.span.column <= len(lines[found.span.line - 1]) + 1, path.name
        if kind != "other" and len(content) <= MAX_BYTES:
            expected = kind == "y" and path.name not in REFUSED_ON_PURPOSE
            assert kind == "i" or is_taken is expected, path.name
        counts[kind] += 1
        validated(content, place, ["request.json", "source", "job.yaml"])
    print(counts)


def naughty_strings():
    return [text for path in suites("SMSPEC_NAUGHTY_STRINGS") for text in json.loads(path.read_text("utf-8"))]


def spec_with(text):
    """Return a job with a text in every key, as YAML with JSON strings."""
    return {
        "description": {"description": text},
        "name": {"name": text},
        "hyperparameter": {"hyperparameters": {"text": text}},
        "name of a hyperparameter": {"hyperparameters": {text: "text"}},
        "variable": {"environment": {"TEXT": text}},
        "name of a variable": {"environment": {text: "text"}},
        "tag": {"tags": {"text": text}},
        "name of a tag": {"tags": {text: "text"}},
        "channel": {"channels": {text: "s3://data/train/"}},
        "address": {"channels": {"train": f"s3://data/{text}"}},
        "path": {"channels": {"train": {"s3": "s3://data/", "local": text}}},
        "image": {"image": text},
        "role": {"role": text},
        "metric": {"metrics": [{"name": text, "regex": text}]},
        "directory": {"checkpoints": {"s3": "s3://data/c/", "local": text}},
        "patch": {"api": {text: text}},
        "base": {"extends": [text]},
    }


def text_in(payload, where):
    """Return the text of a request at the member of a key."""
    if where == "variable":
        return payload["Environment"]["TEXT"]
    if where == "tag":
        return payload["Tags"][0]["Value"]
    if where == "hyperparameter":
        return payload["HyperParameters"]["text"]
    return payload["InputDataConfig"][0]["DataSource"]["S3DataSource"]["S3Uri"].removeprefix("s3://data/")


def test_accepted_text_is_preserved(place):
    kept = 0
    for text in naughty_strings():
        for where, more in spec_with(text).items():
            spec = (
                f"{HEAD}region: us-west-2\n"
                if not {"name", "image", "role"} & {*more}
                else "".join(line for line in HEAD.splitlines(True) if line.partition(":")[0] not in more)
            )
            written = json.dumps(more, ensure_ascii=False).encode("utf-8", "surrogatepass")
            # The escapes of JSON for what may not stand in a file at all; YAML has the same.
            content = spec.encode() + written[1:-1].replace(b"\x7f", b"\\u007f") + b"\n"
            (place / "job.yaml").write_bytes(content)
            rendered = smspec("render", "--api-json", cwd=place)
            assert rendered.status in (0, 1), (where, text, rendered.err)
            if rendered.status == 0 and where in ("variable", "tag", "hyperparameter", "address"):
                said = text_in(json.loads(rendered.out), where)
                assert said == text or (where == "hyperparameter" and json.loads(said) == text), (where, text)
                kept += 1
    assert kept


def test_any_text_is_a_safe_argument(place):
    (place / "job.yaml").write_text(f"{HEAD}vars: {{text: {{default: a}}}}\ndescription: '${{{{ vars.text }}}}'\n")
    for text in naughty_strings():
        if "\0" in text:
            continue  # no command line can carry it
        text = text.encode("utf-8", "surrogatepass").decode("utf-8", "surrogateescape")
        for words in (
            [text],
            ["validate", text],
            ["validate", f"--set=vars.text={text}"],
            ["validate", f"--set={text}"],
            ["validate", f"-O{text}"],
            ["validate", f"--format={text}"],
            ["render", f"--set=vars.text={text}", "--api-json"],
            ["explain", text],
            ["import", f"./{text}"],
            ["diff", text, "job.yaml"],
            ["diff", f"--fail-on={text}", "job.yaml", "job.yaml"],
        ):
            done = smspec(*words, cwd=place)
            assert done.status in (0, 1, 2, 3), (words, done.err)
            assert "internal error" not in done.err
