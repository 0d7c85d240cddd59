"""Any content of any file is handled in bounded time and memory, measured in a process."""

import json
from itertools import islice

import pytest

from support.hostile_texts import (
    HEAD,
    SIZE,
    TOKENS,
    bombs,
    crowds,
    filled,
    job_with,
    much,
    near_matches,
    nested,
    scalars,
    shapes,
    undecodable,
)
from support.measured_command import MeasuredCommand
from support.sampled_cases import IS_WHOLE
from support.service.api_samples import small_request
from support.small_job import BUILT, write_job
from support.spec.job_documents import WHOLE_JOB

pytestmark = pytest.mark.slow

MOST_SECONDS = 20
"""Of processor time: an idle machine takes at most 2, and what grows without bound takes minutes on any."""
MOST_MEGABYTES = 110
"""Of a process that checks one content; 6,000 channels take 70."""

PINNED = BUILT.replace('"}', '", python_requirements: requirements.txt}')
SURFACES = {
    "job.yaml": ["validate"],
    "request.json": ["validate", "--api-json", "request.json"],
    "source": ["import", "./source"],
    "smspec.lock": ["validate"],
    "smspec.toml": ["validate"],
    "pyproject.toml": ["validate"],
    "requirements.txt": ["validate"],
    "src/.gitignore": ["validate"],
    "src/.dockerignore": ["validate"],
    "src/train.py": ["validate"],
    "old.yaml": ["diff", "old.yaml", "job.yaml"],
    "base.yaml": ["validate"],
}
WHOLE_REQUEST = {
    **small_request(),
    "HyperParameters": {"a": "b"},
    "Environment": {"A": "b"},
    "Tags": [{"Key": "a", "Value": "b"}],
    "VpcConfig": {"Subnets": ["subnet-1"], "SecurityGroupIds": ["sg-1"]},
    "CheckpointConfig": {"S3Uri": "s3://b/c", "LocalPath": "/opt/ml/checkpoints"},
    "InputDataConfig": [
        {
            "ChannelName": "a",
            "ContentType": "text/csv",
            "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "s3://b/k", "AttributeNames": ["a"]}},
        }
    ],
    "AlgorithmSpecification": {
        "TrainingImage": "image",
        "TrainingInputMode": "File",
        "MetricDefinitions": [{"Name": "a", "Regex": "b"}],
        "ContainerEntrypoint": ["a", "b"],
        "ContainerArguments": ["c"],
    },
}


def repeated():
    """Return each token, repeated up to an eighth of what a file may have: squared, that takes long as well."""
    return [much(token, SIZE // 8) for token in TOKENS]


KINDS = {
    "bytes": lambda: undecodable().values(),
    "nested": lambda: nested().values(),
    "bombs": lambda: bombs().values(),
    "shapes": lambda: shapes().values(),
    "crowds": lambda: map(job_with, crowds().values()),
}


@pytest.fixture(scope="module")
def command():
    command = MeasuredCommand()
    yield command
    command.close()


@pytest.fixture
def place(tmp_path):
    spec = PINNED
    write_job(tmp_path, spec, **{"requirements.txt": "numpy==2.1.0\n"})
    return tmp_path


def held(command, place, surface, contents, most_seconds=MOST_SECONDS):
    """Put each content in the place of a file and hold the command to what it promises."""
    if surface == "base.yaml":
        (place / "job.yaml").write_text(f"{HEAD}extends: [base.yaml]\n")
    encoded = [one if isinstance(one, bytes) else one.encode("utf-8", "surrogatepass") for one in contents]
    allowed = (0, 1, 2) if surface == "old.yaml" else (0, 1)
    runs = list(command.with_each(encoded, surface, SURFACES[surface], place))
    assert len(runs) == len(encoded), runs[-1]
    for done, content in zip(runs, encoded, strict=True):
        assert done.status in allowed, (content[:100], done.err[:1000])
        assert "Traceback" not in done.err
        assert done.out or done.err
        assert done.seconds <= most_seconds, content[:100]
        assert done.megabytes <= MOST_MEGABYTES, content[:100]


@pytest.mark.parametrize("kind", KINDS)
def test_any_spec_is_validated_in_bounded_time_and_memory(kind, command, place):
    """A quarter of each kind, unless all are asked for: neighbors are the same shape at another key or length."""
    held(command, place, "job.yaml", [*KINDS[kind]()][:: 1 if IS_WHOLE else 4])


def test_one_token_spec_is_validated_in_bounded_time(command, place):
    held(command, place, "job.yaml", repeated(), MOST_SECONDS / 8)


@pytest.mark.parametrize("surface", [name for name in SURFACES if name != "job.yaml"])
def test_any_other_file_is_read_in_bounded_time_and_memory(surface, command, place):
    # A spec meets all of them above; here each meets one other kind of file, or two.
    deepest = [text for name, text in nested().items() if name.startswith(("65 ", "200,000 ", "closed"))]
    contents = [*undecodable().values(), *repeated(), *deepest, *shapes().values()]
    held(command, place, surface, contents[list(SURFACES).index(surface) % 8 :: 8])


@pytest.mark.parametrize("surface", ["job.yaml", "request.json"])
def test_every_pattern_rejects_text_quickly(surface, command, place):
    """Every text of a job, or of a request, is one that goes far into a pattern before it fails."""
    document = WHOLE_JOB if surface == "job.yaml" else WHOLE_REQUEST
    # Long enough that a pattern which takes the cube of its length takes longer, at one place alone.
    texts = near_matches(SIZE // 16 // scalars(document))
    documents = (json.dumps(filled(document, text), ensure_ascii=False) for text in texts)
    # Their costs differ by the text, not by the document: a quarter of them meets each, unless all are asked for.
    chosen = documents if IS_WHOLE else islice(documents, surface == "job.yaml", None, 4)
    held(command, place, surface, chosen, MOST_SECONDS / 20)


def test_variables_in_a_long_list_are_compared_in_bounded_time(command, place):
    """Each argument has another variable than before, so none is only moved."""
    old, new = (
        BUILT
        + f"vars: {{a: {{default: 1}}, b: {{default: 1}}}}\nentry_point: {{script: train.py, args: {arguments}}}\n"
        for arguments in (json.dumps([f"${{{{ vars.{name} }}}}" for name in names * 2_000]) for names in ("ab", "ba"))
    )
    (place / "job.yaml").write_text(new.replace("entry_point: train.py\n", ""))
    held(command, place, "old.yaml", [old.replace("entry_point: train.py\n", "")])


@pytest.mark.parametrize(
    "policy",
    [
        "0." * 60_000 + "0 = 1",
        "".join(f"k{n}.{'0.' * 900}0 = 1\n" for n in range(60)),
        "a" * 1900 + "!",
        "x = '''\n" + "a" * 1900 + "!\n'''\nunheard_of = 1\n",
        "x = '''\n" + "[" * 1900 + "\n'''\nunheard_of = 1\n",
        "".join(f"key{n} = 1\n" for n in range(9_000)),
        "[rules]\n" + "".join(f'SM{n} = "loud"\n' for n in range(6_000)),
        "[prices]\na = 1e999999999999999999999\n",
        "[prices]\na = 1e-999999\n",
        "[prices]\na = 0x" + "f" * 1900,
        '[prices]\n"(at line 999, column 999)" = "x"\n',
        "a = " + "[" * 1900,
    ],
    ids=range(12),
)
def test_hostile_policy_is_reported_at_its_lines(policy, command, place):
    (place / "smspec.toml").write_text(policy)
    done = command("validate", "--format", "github", cwd=place)
    assert done.status == 1
    assert "file=smspec.toml,line=" in done.out
    assert done.seconds <= MOST_SECONDS
    lines = {int(part.partition(",")[0]) for part in done.out.split("file=smspec.toml,line=")[1:]}
    assert max(lines) <= policy.count("\n") + 1
