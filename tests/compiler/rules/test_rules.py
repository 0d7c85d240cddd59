"""Every rule finds its contradiction at its path, and nothing in similar jobs."""

import pytest

from smspec.plan.delivery import launcher_name, toolkit_hyperparameters
from smspec.rules import lint
from smspec.spec.model import DISTRIBUTIONS
from smspec.spec.schema import spec_keys
from smspec_runtime.launchers import LAUNCHERS
from smspec_runtime.toolkit import LAUNCHERS as TOOLKIT_LAUNCHERS
from support.spec import job_samples

URI = job_samples.IMAGE_URI
LOOP = {"pipe_loop": "reader:Trainer"}
PIPE = {"train": {"s3": "s3://example-data/ctr/train/", "input_mode": "Pipe"}}
MANIFEST = {"s3_data_type": "AugmentedManifestFile", "attributes": ["source-ref"], "record_wrapper": "RecordIO"}
ALGORITHM = {"AlgorithmSpecification": {"AlgorithmName": "mine"}}
FILE_SYSTEM = {"id": "fs-0123456789abcdef0", "type": "EFS", "path": "/data", "access": "ro"}
FILES = ("train.py", "reader.py", "run.sh", "ctr/__init__.py", "ctr/training.py")

REFUSED = [
    ("SM301", ("distribution",), {"entry_point": LOOP, "channels": PIPE, "distribution": "torchrun"}),
    (
        "SM302",
        ("hyperparameters", "epochs"),
        {"entry_point": {**LOOP, "epochs": 5}, "channels": PIPE, "hyperparameters": {"epochs": 6}},
    ),
    ("SM303", ("hyperparameters", "epochs"), {"entry_point": LOOP, "channels": PIPE, "hyperparameters": {"epochs": 0}}),
    (
        "SM303",
        ("hyperparameters", "epochs"),
        {"entry_point": LOOP, "channels": PIPE, "hyperparameters": {"epochs": "many"}},
    ),
    (
        "SM303",
        ("hyperparameters", "epochs"),
        {"entry_point": LOOP, "channels": PIPE, "hyperparameters": {"epochs": True}},
    ),
    ("SM304", ("image",), {"region": None}),
    ("SM304", ("image", "repository"), {"region": None, "image": {"base": "python:3", "repository": "team/ctr"}}),
    ("SM305", ("source", "delivery"), {"image": URI, "source": {"dir": "src/", "delivery": "image"}}),
    ("SM306", ("entry_point",), {"image": URI, "source": None}),
    ("SM306", ("entry_point",), {"image": URI, "source": None, "entry_point": LOOP, "channels": PIPE}),
    ("SM307", ("entry_point", "script"), {"source": None}),
    ("SM308", ("source",), {"image": URI, "entry_point": None}),
    ("SM309", ("source",), {"image": None, "entry_point": None, "api": ALGORITHM}),
    ("SM309", ("entry_point",), {"image": None, "source": None, "entry_point": {"command": ["x"]}, "api": ALGORITHM}),
    ("SM310", ("entry_point", "script"), {"entry_point": "trian.py"}),
    ("SM310", ("entry_point", "script"), {"entry_point": "elsewhere/train.py"}),
    ("SM311", ("entry_point", "script"), {"entry_point": "./train.py"}),
    ("SM311", ("entry_point", "script"), {"entry_point": "../train.py"}),
    ("SM311", ("entry_point", "script"), {"entry_point": "/opt/ml/code/train.py"}),
    ("SM311", ("entry_point", "script"), {"entry_point": "my train.py"}),
    ("SM311", ("entry_point", "script"), {"entry_point": "-train.py"}),
    ("SM312", ("entry_point", "pipe_loop"), {"entry_point": {"pipe_loop": "raeder:Trainer"}, "channels": PIPE}),
    ("SM312", ("entry_point", "module"), {"entry_point": {"module": "ctr.trainer:main"}}),
    ("SM313", ("entry_point", "script"), {"entry_point": "run.sh", "distribution": "torchrun"}),
    (
        "SM314",
        ("distribution",),
        {"image": URI, "source": None, "entry_point": {"command": ["x"]}, "distribution": "mpi"},
    ),
    ("SM314", ("distribution",), {"image": URI, "source": None, "entry_point": None, "distribution": "torchrun"}),
    (
        "SM315",
        ("entry_point",),
        {"image": URI, "source": {"dir": "src/", "delivery": "s3"}, "entry_point": {"command": ["./run.sh"]}},
    ),
    (
        "SM315",
        ("entry_point", "args"),
        {
            "image": URI,
            "source": {"dir": "src/", "delivery": "s3"},
            "entry_point": {"script": "train.py", "args": ["-v"]},
        },
    ),
    (
        "SM315",
        ("entry_point", "args_style"),
        {
            "image": URI,
            "source": {"dir": "src/", "delivery": "s3"},
            "entry_point": {"script": "train.py", "args_style": "flags"},
        },
    ),
    (
        "SM316",
        ("distribution", "torchrun", "port"),
        {
            "image": URI,
            "source": {"dir": "src/", "delivery": "s3"},
            "distribution": {"torchrun": {"port": 7000}},
        },
    ),
    (
        "SM316",
        ("distribution", "mpi", "options", 1),
        {
            "image": URI,
            "source": {"dir": "src/", "delivery": "s3"},
            "distribution": {"mpi": {"options": ["-x", "A=b c"]}},
        },
    ),
    *(
        ("SM316", ("distribution", "mpi", "options", index), {"distribution": {"mpi": {"options": options}}})
        for index, options in (
            (0, ["-verbose -x A=none"]),
            (2, ["-x", "A=b", "-x C=d"]),
            (3, ["-mca", "a", "b", "--NCCL_DEBUG"]),
            (0, ["--NCCL_DEBUG", "-x", "A=b"]),
        )
    ),
    (
        "SM317",
        ("entry_point", "args_style"),
        {"image": URI, "source": None, "entry_point": {"command": ["x"], "args_style": "json"}},
    ),
    (
        "SM318",
        ("channels", "code"),
        {"source": {"dir": "src/", "delivery": "channel"}, "channels": {"code": "s3://example-data/x/"}},
    ),
    ("SM318", ("channels", "smspec"), {"image": URI, "channels": {"smspec": "s3://example-data/x/"}}),
    (
        "SM319",
        ("hyperparameters", "sagemaker_program"),
        {"hyperparameters": {"sagemaker_program": "x.py"}},
    ),
    ("SM319", ("hyperparameters", "sagemaker_region"), {"image": URI, "hyperparameters": {"sagemaker_region": "x"}}),
    ("SM320", ("hyperparameters", "a=b"), {"hyperparameters": {"a=b": 1}}),
    ("SM320", ("hyperparameters", "a=b"), {"image": URI, "hyperparameters": {"a=b": 1}}),
    (
        "SM320",
        ("hyperparameters", "a=b"),
        {"image": URI, "source": {"dir": "src/", "delivery": "s3"}, "hyperparameters": {"a=b": 1}},
    ),
    (
        "SM321",
        ("entry_point", "read", "trian"),
        {"entry_point": {**LOOP, "read": {"trian": "lines"}}, "channels": PIPE},
    ),
    (
        "SM322",
        ("entry_point", "read", "val"),
        {
            "entry_point": {**LOOP, "read": {"val": "lines"}},
            "channels": {**PIPE, "val": "s3://example-data/val/"},
        },
    ),
    ("SM323", ("entry_point", "pipe_loop"), {"entry_point": LOOP}),
    ("SM323", ("entry_point", "pipe_loop"), {"entry_point": {**LOOP, "read": {"train": "lines"}}}),
    ("SM323", ("entry_point", "pipe_loop"), {"entry_point": LOOP, "channels": None, "input_mode": "Pipe"}),
    (
        "SM324",
        ("channels", "train", "distribution"),
        {"channels": {"train": {"file_system": FILE_SYSTEM, "distribution": "ShardedByS3Key"}}},
    ),
    (
        "SM324",
        ("channels", "train", "s3_data_type"),
        {"channels": {"train": {"file_system": FILE_SYSTEM, "s3_data_type": "ManifestFile"}}},
    ),
    (
        "SM325",
        ("entry_point", "read", "train"),
        {"entry_point": {**LOOP, "read": {"train": "augmented"}}, "channels": PIPE},
    ),
    (
        "SM325",
        ("entry_point", "read", "train"),
        {
            "entry_point": {**LOOP, "read": {"train": "augmented"}},
            "channels": {"train": {**PIPE["train"], **MANIFEST, "record_wrapper": "None"}},
        },
    ),
]


@pytest.mark.parametrize(
    ("code", "path", "changes"), REFUSED, ids=[f"{code}-{number}" for number, (code, _, _) in enumerate(REFUSED)]
)
def test_contradiction_is_the_only_finding_at_its_path(code, path, changes):
    found = lint(job_samples.job(**changes), job_samples.listing(*FILES))
    assert [(finding.code, finding.path) for finding in found] == [(code, path)]
    assert found[0].message[0] == "`" or found[0].message[0].islower()
    assert not found[0].message.endswith(".")


ACCEPTED = [
    {},
    {"source": {"dir": "src/", "delivery": "channel"}},
    {"source": {"dir": "src/", "delivery": "s3"}, "entry_point": LOOP, "channels": PIPE},
    {"image": URI},
    *(
        {"distribution": {"mpi": {"options": options}}}
        for options in (
            ["-x", "A=b c"],
            ["--NCCL_DEBUG", "INFO"],
            ["-mca", "plm_rsh_args", "-p 22"],
            ["--unknown", "-p 22"],
            ["--prefix=/a b"],
            [],
        )
    ),
    {"image": URI, "source": {"dir": "src/", "delivery": "s3"}, "distribution": {"mpi": {"options": ["-x", "A=b"]}}},
    {"image": URI, "source": {"dir": "src/", "delivery": "s3"}, "distribution": "torchrun"},
    {"image": URI, "source": None, "entry_point": None, "hyperparameters": {"sagemaker_program": "x.py", "a=b": 1}},
    {"image": URI, "source": None, "entry_point": {"command": ["x"]}, "hyperparameters": {"a=b": 1}},
    {"image": URI, "entry_point": {"command": ["x"], "args_style": "json"}, "hyperparameters": {"a": 1}},
    {"image": None, "source": None, "entry_point": None, "api": ALGORITHM},
    {"region": None, "image": {"base": "python:3", "repository": "registry.example/team/ctr"}},
    {"region": None, "image": {"base": "python:3", "repository": "localhost:5000/ctr"}},
    {"region": None, "image": URI},
    {"entry_point": LOOP, "input_mode": "Pipe", "hyperparameters": {"epochs": 3}},
    {"entry_point": LOOP, "input_mode": "Pipe", "hyperparameters": {"epochs": 3.0}},
    {"entry_point": {**LOOP, "epochs": 3}, "input_mode": "Pipe", "hyperparameters": {"epochs": 3}},
    {"entry_point": {**LOOP, "epochs": 3}, "input_mode": "Pipe", "hyperparameters": {"epochs": 3.0}},
    {"entry_point": {**LOOP, "epochs": 3}, "input_mode": "Pipe", "hyperparameters": {"epochs": "3"}},
    {"entry_point": LOOP, "channels": {**PIPE, "val": "s3://example-data/val/"}},
    {"entry_point": {"script": "train.py", "args_style": "none"}, "hyperparameters": {"a=b": 1}},
    {"entry_point": {"module": "ctr.training:main"}, "hyperparameters": {"a=b": 1}},
    {"entry_point": {"module": "ctr:main"}},
    {"source": None, "entry_point": {"module": "installed.package:main"}},
    {"source": None, "entry_point": {"command": ["train"]}},
    {"entry_point": "ctr/training.py"},
    {"entry_point": "run.sh", "distribution": "mpi"},
    {"channels": {"code": "s3://example-data/x/"}},
    {"channels": {"train": {"file_system": FILE_SYSTEM}}},
    {
        "entry_point": {**LOOP, "read": {"train": "augmented"}},
        "channels": {"train": {**PIPE["train"], **MANIFEST}},
    },
]


@pytest.mark.parametrize("changes", ACCEPTED, ids=[str(number) for number in range(len(ACCEPTED))])
def test_job_without_contradictions_has_no_findings(changes):
    assert lint(job_samples.job(**changes), job_samples.listing(*FILES)) == []


def test_nul_in_an_argument_is_rejected():
    found = lint(job_samples.job(hyperparameters={"text": "a\0b", "k\0": 1}), job_samples.listing(*FILES))
    assert [finding.code for finding in found] == ["SM320", "SM320"]


@pytest.mark.parametrize(
    ("script", "label"),
    [
        ("trian.py", "did you mean `train.py`?"),
        ("training.py", "did you mean `ctr/training.py`?"),
        ("nothing-like-it.py", ""),
        ("./train.py", "write `train.py`"),
    ],
)
def test_nearest_script_is_offered(script, label):
    (found,) = lint(job_samples.job(entry_point=script), job_samples.listing(*FILES))
    assert found.label == label


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_every_launcher_is_in_the_runtime_and_the_toolkit(name):
    """A job that validates must not find out on hosts that are paid for."""
    distribution = {name: spec_keys()[("distribution", name)]["examples"][0]}
    job = job_samples.job(distribution=distribution)
    assert lint(job, job_samples.listing(*FILES)) == []
    assert launcher_name(job.distribution) in LAUNCHERS
    plain = {key: value for key, value in distribution[name].items() if key == "framework"}
    toolkit = job_samples.job(image=URI, source={"dir": "src/", "delivery": "s3"}, distribution={name: plain})
    assert lint(toolkit, job_samples.listing(*FILES)) == []
    sent = {hyperparameter.name for hyperparameter in toolkit_hyperparameters(toolkit)}
    assert sent & set(TOOLKIT_LAUNCHERS), "`toolkit_hyperparameters`, plan/delivery.py"


def test_installable_project_may_keep_modules_anywhere():
    files = ("pyproject.toml", "src/ctr/other.py")
    assert lint(job_samples.job(entry_point={"module": "ctr.other:main"}), job_samples.listing(*files)) == []


def test_several_contradictions_are_all_reported():
    found = lint(
        job_samples.job(
            image=URI,
            source={"dir": "src/", "delivery": "s3"},
            entry_point={"script": "trian.py", "args": ["x"], "args_style": "json"},
            hyperparameters={"a=b": 1, "sagemaker_x": 1},
        ),
        job_samples.listing(*FILES),
    )
    assert [finding.code for finding in found] == ["SM310", "SM315", "SM315", "SM319", "SM320"]
