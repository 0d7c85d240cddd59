"""Any spec is validated in bounded time, with positions inside it; a valid one can be built."""

import json
import os
import re
import time
import zlib
from pathlib import Path

import pytest
import yaml
from botocore import session, validate
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from smspec.diagnostics.explanation import explained_codes
from smspec.spec.schema.reference import keys
from support.examples import at_most
from support.smspec_command import smspec

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
SPECS = [path.read_text() for path in sorted(ROOT.glob("specs/*/job.yaml"))]
SPECS += [path.read_text() for path in sorted(ROOT.glob("compiler/smspec/cli/templates/*/job.yaml"))]
WORDS = sorted({word for key in keys() for word in key.replace("[]", "").split(".")})
CODES = frozenset(explained_codes())
REQUIRED = ("smspec", "name", "role", "output")
MOST_SECONDS = 20
"""Of processor time. A reading takes milliseconds; test_hostile_costs.py measures what was made to take long."""

SIGNS = [*":{}[],&*!|>#%@`\"'\t\n -?~\\\0\x85\u2028\ufeff日", "<<: ", "${{ vars.a }}", "- ", "&a ", "*a ", "---\n"]
ODD = """\
null|~|""|0|-1|99999999999999999999|1.5|.nan|.inf|true|no|012|1e-3|2026-01-01|"a\\nb"|"\\0"|"\\U0001F600"|<<
../../x|/etc|.|s3://|s3://b/k|1h|10GB|Pipe|a=b|'${{ vars.x }}'|&x [*x]|!!set {a}|[]|{}|[null]|{a: null}|[1, [2, {}]]
{'': ''}|{script: a.py, args: [1]}|{s3: ''}|{dir: null}|{base: []}|{mpi: []}|{torchrun: null}|{dev: {hosts: null}}
""".replace("\n", "|").split("|")


@st.composite
def edited(draw):
    """Return a good spec after one to four edits of its text."""
    text = draw(st.sampled_from(SPECS))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(text)))
        lines = text.split("\n")
        line = draw(st.integers(0, len(lines) - 1))
        match draw(st.sampled_from(["insert", "cut", "copy", "indent", "value", "key"])):
            case "insert":
                text = text[:at] + draw(st.sampled_from(SIGNS)) + text[at:]
            case "cut":
                text = text[:at] + text[at + draw(st.integers(1, 20)) :]
            case "copy":
                lines.insert(draw(st.integers(0, len(lines))), lines[line])
                text = "\n".join(lines)
            case "indent":
                lines[line] = " " * draw(st.integers(0, 4)) + lines[line].lstrip()
                text = "\n".join(lines)
            case "value":
                lines[line] = f"{lines[line].partition(':')[0]}: {draw(st.sampled_from(ODD))}"
                text = "\n".join(lines)
            case "key":
                lines.insert(line, f"{draw(st.sampled_from(WORDS))}: {draw(st.sampled_from(ODD))}")
                text = "\n".join(lines)
    return text.encode("utf-8", "replace")


ANY = st.one_of(
    edited(), edited(), st.binary(max_size=200), st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace"))
)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A directory with the sources that the specs name."""
    directory = tmp_path_factory.mktemp("hostile")
    (directory / "src").mkdir()
    for path in [*ROOT.glob("specs/*/src/*.py"), *ROOT.glob("compiler/smspec/cli/templates/*/src/*.py")]:
        (directory / "src" / path.name).write_bytes(path.read_bytes())
    return directory


@pytest.fixture(scope="module")
def botocore_finds():
    """What the installed botocore finds wrong with a request before it would send it."""
    service = session.get_session().get_service_model("sagemaker")
    shape = service.operation_model("CreateTrainingJob").input_shape
    return lambda payload: validate.ParamValidator().validate(payload, shape).generate_report()


def verdict(place, content):
    """Check a file; return its exit status and its findings, all of which are at places inside it."""
    (place / "job.yaml").write_bytes(content)
    start = time.process_time()
    done = smspec("validate", "--format", "json", cwd=place)
    assert time.process_time() - start < MOST_SECONDS
    assert done.status in (0, 1), done.err
    assert "Traceback" not in done.err

    records = json.loads(done.out)
    assert (done.status == 1) == any(record["severity"] == "error" for record in records)
    lines = content.decode("utf-8", "replace").removeprefix("\ufeff").split("\n")
    for record in records:
        assert record["code"] in CODES
        assert os.path.basename(record["file"]) == "job.yaml"
        for line, column in ((record["line"], record["column"]), (record["end_line"], record["end_column"])):
            assert 1 <= line <= len(lines)
            assert 1 <= column <= len(lines[line - 1]) + 1
    return done.status, records


@pytest.mark.parametrize("part", range(2 if settings().derandomize else 8))
def test_any_file_is_validated(part, place, botocore_finds):
    @settings(max_examples=at_most(300), suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
    @seed(part if settings().derandomize else f"{part}{os.urandom(8).hex()}")  # each part draws other files
    @given(content=ANY)
    def law(content):
        status, records = verdict(place, content)
        # The rest costs more than the reading: of the files, which are drawn at random anyway, it is asked of some.
        chosen = zlib.crc32(content) % 4 == 0
        if chosen:
            text = smspec("validate", cwd=place)
            assert text.status == status
            more = sum(map(int, re.findall(r", and (\d+) more like it\)", text.out)))  # in one line together
            assert text.out.count("[SM") + more == len(records) or not records
        if status == 0 or chosen:
            rendered = smspec("render", "--api-json", cwd=place)
            assert rendered.status in ((0,) if status == 0 else (0, 1)), rendered.err
        if status == 0:
            assert not botocore_finds(json.loads(rendered.out))
        if status == 0 and chosen:
            accepted(content, place)

    law()


def accepted(content, place):
    """An accepted spec can be built, and not with keys removed or added."""
    assert smspec("build", "--check", cwd=place).status == 1

    spec = smspec("render", "--spec", cwd=place)
    assert spec.status == 0, spec.err
    data = yaml.safe_load(spec.out)
    for key in REQUIRED:
        without = {name: value for name, value in data.items() if name != key}
        status, records = verdict(place, json.dumps(without, ensure_ascii=False).encode())
        assert status == 1
        assert any(f"`{key}`" in record["message"] for record in records), (key, records)

    status, records = verdict(place, content + b"\nunheard_of: 1\n")
    assert status == 1
