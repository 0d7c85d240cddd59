"""No command shows a secret of a spec or a request, in any format and with any other error.

What renders the request (`render`, `build`, the spec that `import` prints) contains it: that is what it is for.
"""

import json
import random

import pytest

from smspec.diagnostics.formats import FORMATS
from support.secret_corpus import made
from support.small_job import write_job
from support.smspec_command import smspec

pytestmark = pytest.mark.slow

ROLE = "arn:aws:iam::111122223333:role/SageMakerTraining"
READY = "111122223333.dkr.ecr.us-west-2.amazonaws.com/small:1"
JOB = f"""\
smspec: v1
name: small
role: {ROLE}
image: {READY}
hosts: {{instance_type: ml.m5.large, count: 1, volume: 10GB}}
output: s3://models/small/
"""
BUILT = f"""\
smspec: v1
name: small
role: {ROLE}
region: us-west-2
hosts: {{instance_type: ml.m5.large, count: 1, volume: 10GB}}
output: s3://models/small/
"""
BASE = 'image: {base: "python:3.12-slim-bookworm"}\n'
SOURCE = "source: src/\nentry_point: train.py\n"

# `FORM` is a secret in a known format, `NAMED` any text under a name that says what it is.
PLACES = {
    "environment": JOB + "environment: {DB_PASSWORD: 'NAMED', A: 'FORM'}\n",
    "environment in block style": JOB + "environment:\n  DB_PASSWORD: NAMED\n  A: FORM\n",
    "name of a variable": JOB + "environment: {FORM: a, FORM: b}\n",
    "hyperparameters": JOB
    + "hyperparameters: {api_key: NAMED, a: FORM, b: [1, FORM], c: {d: FORM, password: NAMED}}\n",
    "name of a hyperparameter": JOB + "hyperparameters: {'FORM': 1, '': 2}\n",
    "JSON in a hyperparameter": JOB + """hyperparameters: {a: '{"password": "NAMED", "b": "FORM"}'}\n""",
    "folded text": JOB + "hyperparameters:\n  password: >-\n    NAMED\n  a: |\n    FORM\n",
    "double quotes": JOB + 'hyperparameters: {password: "NAMED", a: "x FORM y"}\n',
    "anchor": JOB + "hyperparameters: {password: &p NAMED, api_key: *p, b: &f FORM, c: *f}\n",
    "tags": JOB + "tags: {password: NAMED, a: FORM}\n",
    "wrong type": JOB.replace("count: 1", "count: FORM").replace("10GB", "FORM"),
    "wrong key": JOB + "FORM: 1\nenv: {DB_PASSWORD: NAMED}\n",
    "wrong word": JOB + "input_mode: FORM\nchannels: {train: {s3: 's3://data/train/', input_mode: FORM}}\n",
    "address": JOB + "channels: {train: 's3://data/FORM'}\ncheckpoints: FORM\n",
    "name": JOB.replace("name: small", "name: FORM"),
    "role": JOB.replace(ROLE, "FORM"),
    "image": JOB.replace(READY, "FORM"),
    "image with a password": JOB.replace(READY, "https://ml:NAMED@registry.example.com/small"),
    "hosts": JOB.replace("ml.m5.large", "FORM"),
    "metrics": JOB + "metrics: [{name: FORM, regex: '(FORM'}]\n",
    "api": JOB + "api: {Environment: {DB_PASSWORD: 'NAMED', A: FORM}, FORM: 1, TrainingJobName: FORM}\n",
    "checks": JOB + "checks: {ignore: [{rule: FORM, at: FORM, because: FORM}]}\n",
    "description": JOB + "description: FORM\nhyperparameterz: {}\n",
    "vars": JOB + "vars: {db_password: {default: NAMED, enum: [NAMED, b]}, a: {default: FORM}}\n"
    "hyperparameters: {a: '${{ vars.a }}', password: '${{ vars.db_password }}', b: '${{ vars.c }}'}\n",
    "default that enum lacks": JOB + "vars: {db_password: {default: NAMED, enum: [a, b]}}\nhyperparameters: {a: 1}\n",
    "value of a wrong type": JOB + "secrets: {DB_PASSWORD: NAMED}\nhyperparameters: [{password: NAMED}]\n",
    "address without a scheme": JOB
    + "channels: {train: 's3://u:NAMED@bucket/x'}\nextends: ['https://u:NAMED@h/b.yaml']\n",
    "variables as in Kubernetes": JOB
    + "environment:\n  - {name: DB_PASSWORD, value: NAMED}\n  - {value: NAMED, name: PASSWORD}\n",
    "case of a name": JOB + "environment: {DbPassWord: NAMED, DBPASSWORD: NAMED, db.password: NAMED}\n",
    "part of it is a placeholder": JOB + "environment: {DB_PASSWORD: example-NAMED, GH_PAT: changemeNAMED}\n",
    "vars in block style": JOB + "vars:\n  db_password:\n    default: NAMED\n    enumm: [b]\n  a: {default: FORM}\n",
    "overlay": JOB + "overlays: {dev: {environment: {DB_PASSWORD: NAMED, A: FORM}, hosts: {count: FORM}}}\n",
    "name of an overlay": JOB + "overlays: {FORM: {hosts: {count: 0}}}\n",
    "base": JOB + "extends: [base.yaml]\n",
    "base that is not there": JOB + "extends: [FORM.yaml, 'FORM/x']\n",
    "image.env": BUILT
    + SOURCE
    + "image: {base: 'python:3.12', env: {DB_PASSWORD: NAMED, A: FORM}, labels: {a: FORM}}\n",
    "image.run": BUILT
    + SOURCE
    + "image: {base: 'python:3.12', run: ['curl -u a:b -H \"Authorization: Bearer FORM\" x',"
    " 'login --password NAMED']}\n",
    "image.base": BUILT + SOURCE + "image: {base: 'FORM', python_packages: ['FORM==1'], system_packages: [FORM]}\n",
    "requirements": BUILT + SOURCE + "image: {base: 'python:3.12', python_requirements: FORM.txt}\n",
    "arguments": BUILT
    + BASE
    + "source: src/\nentry_point: {script: train.py, args: [--password, NAMED, --a=FORM, FORM]}\n",
    "arguments in block style": BUILT
    + BASE
    + "source: src/\nentry_point:\n  script: train.py\n  args:\n  - --password\n"
    "  - NAMED\n  - FORM\n",
    "command": BUILT + BASE + "source: src/\nentry_point: {command: [sh, -c, 'train --password NAMED --a FORM']}\n",
    "options with one dash": BUILT + BASE + "source: src/\nentry_point: {script: train.py, args: [-password, NAMED]}\n",
    "commands without a name": BUILT
    + SOURCE
    + "image: {base: 'python:3.12', run: ['curl -u ml:NAMED https://h/x', 'mysql -pNAMED', 'sshpass -p NAMED x']}\n",
    "script": BUILT + BASE + "source: src/\nentry_point: FORM.py\n",
    "source": BUILT + BASE + "source: FORM/\nentry_point: train.py\n",
    "entry point": BUILT + BASE + "source: src/\nentry_point: {pipe_loop: 'FORM:a', epochs: FORM}\n",
    "no YAML": JOB + "environment: {DB_PASSWORD: NAMED, A: FORM\n  b: [\n",
    "tab": JOB + "environment:\n\tDB_PASSWORD: NAMED\n\tA: FORM\n",
    "tag of YAML": JOB + "environment: {DB_PASSWORD: !secret NAMED, A: !FORM b}\n",
    "duplicate": JOB + "environment: {DB_PASSWORD: NAMED, DB_PASSWORD: NAMED, A: FORM, A: FORM}\n",
    "nothing but it": "FORM\n",
}
FORMED = {
    "token": "hf_{a34}",
    "key": "AKIA{u16}",
    "forge": "ghp_{a36}",
    "model": "sk-ant-api03-{b80}",
}


def secrets(seed):
    """Return a secret in a known format, and one that only its name betrays."""
    chance = random.Random(seed)
    formed = made(chance.choice(list(FORMED.values())), seed)
    return formed, made("{a14}", f"named {seed}")


def shown(directory, *words):
    done = smspec(*words, cwd=directory)
    assert done.status in (0, 1, 2), done
    return done.out + done.err


BASE_SPEC = "smspec: v1\nenvironment: {DB_PASSWORD: NAMED, A: FORM}\nhosts: {count: FORM}\n"
PROGRAM = "import argparse\np = argparse.ArgumentParser()\np.parse_args()\n"


def assert_none(text, *pieces):
    for piece in pieces:
        assert piece[-10:] not in text, text
        assert piece[4:14] not in text, text


@pytest.mark.parametrize("place", PLACES)
def test_no_command_shows_a_secret_of_a_spec(place, tmp_path):
    formed, named = secrets(place)
    spec, base = (text.replace("FORM", formed).replace("NAMED", named) for text in (PLACES[place], BASE_SPEC))
    write_job(tmp_path, spec)
    (tmp_path / "src/train.py").write_text(PROGRAM)
    (tmp_path / "base.yaml").write_text(base)
    for format in FORMATS:
        assert_none(shown(tmp_path, "validate", "--format", format), formed, named)
    assert_none(shown(tmp_path, "validate", ".", "--strict"), formed, named)
    (tmp_path / "old.yaml").write_text(JOB)
    for old, new in (("old.yaml", "job.yaml"), ("job.yaml", "old.yaml")):
        for format in ("text", "markdown", "json"):
            assert_none(shown(tmp_path, "diff", old, new, "--format", format), formed, named)
    other = tmp_path / "other.yaml"
    other.write_text(spec.replace(formed[-4:], "ZZ77").replace(named[-4:], "YY88"))
    for format in ("text", "markdown", "json"):
        text = shown(tmp_path, "diff", "job.yaml", "other.yaml", "--format", format)
        assert_none(text, formed[:-4], named[:-4], formed[:-4] + "ZZ77", named[:-4] + "YY88")
    for words in (("build", "--check"), ("render", "--spec"), ("render", "--api-json")):
        assert_none(smspec(*words, cwd=tmp_path).err, formed, named)


@pytest.mark.parametrize("place", ["vars", "vars in block style", "default that enum lacks", "overlay", "no YAML"])
def test_no_command_shows_a_secret_of_its_arguments(place, tmp_path):
    """Only what a spec declares decides how a value for it is reported."""
    formed, named = secrets(place)
    write_job(tmp_path, PLACES[place].replace("FORM", formed).replace("NAMED", named))
    (tmp_path / "old.yaml").write_text(JOB)
    assert_none(shown(tmp_path, "validate", "-O", formed), formed)
    for setting in (f"vars.db_password={named}", f"vars.a={formed}", f"{formed}=1", f"vars.{formed}=1"):
        for command in ("validate", "diff"):
            words = (command, "old.yaml") if command == "diff" else (command,)
            assert_none(shown(tmp_path, *words, "job.yaml", "--set", setting), formed, named)


REQUEST = {
    "TrainingJobName": "small",
    "RoleArn": ROLE,
    "AlgorithmSpecification": {"TrainingImage": READY, "TrainingInputMode": "File"},
    "OutputDataConfig": {"S3OutputPath": "s3://models/small/"},
    "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 10},
    "StoppingCondition": {"MaxRuntimeInSeconds": 3600},
}
MEMBERS = {
    "Environment": {"DB_PASSWORD": "NAMED", "A": "FORM", "FORM": "b"},
    "HyperParameters": {"api_key": "NAMED", "a": "FORM", "FORM": "1", "b": 5},
    "Tags": [{"Key": "password", "Value": "NAMED"}, {"Key": "a", "Value": "FORM"}, {"Key": "FORM"}],
    "RoleArn": "FORM",
    "FORM": "FORM password",
    "AlgorithmSpecification": {
        "TrainingImage": READY,
        "TrainingInputMode": "FORM",
        "ContainerEntrypoint": ["train", "--password", "NAMED", "FORM", 5],
        "ContainerArguments": ["--token=FORM"],
    },
    "StoppingCondition": {"MaxRuntimeInSeconds": "FORM"},
    "InputDataConfig": [{"ChannelName": "FORM", "DataSource": {"S3DataSource": {"S3Uri": "s3://FORM/", "x": "FORM"}}}],
}


@pytest.mark.parametrize("member", MEMBERS)
@pytest.mark.parametrize("indent", [None, 2])
def test_no_command_shows_a_secret_of_a_request(member, indent, tmp_path):
    formed, named = secrets(f"{member} {indent}")
    request = json.dumps({**REQUEST, member: MEMBERS[member]}, indent=indent)
    request = request.replace("FORM", formed).replace("NAMED", named)
    (tmp_path / "request.json").write_text(request)
    (tmp_path / "old.json").write_text(json.dumps(REQUEST))
    for format in FORMATS:
        if format != "mermaid":
            assert_none(shown(tmp_path, "validate", "--api-json", "request.json", "--format", format), formed, named)
    for format in ("text", "markdown", "json"):
        assert_none(shown(tmp_path, "diff", "old.json", "request.json", "--format", format), formed, named)
    assert_none(smspec("import", "request.json", cwd=tmp_path).err, formed, named)
    (tmp_path / "request.json").write_text(request[:-2])
    for format in FORMATS:
        assert_none(shown(tmp_path, "validate", "--api-json", "request.json", "--format", format), formed, named)
