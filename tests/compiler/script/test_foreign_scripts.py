"""Scripts that are not Python: how they start, what damages them, and which other scripts they call."""

import json
import subprocess

import pytest

from smspec.script.program import ForeignScript
from support.smspec_command import smspec

HEAD = """\
smspec: v1
name: small
role: arn:aws:iam::111122223333:role/SageMakerTraining
region: us-west-2
image: {base: "python:3.12-slim-bookworm", python_packages: [accelerate==1.1, deepspeed==0.15, torch==2.5.1]}
hosts: {instance_type: ml.m5.large, count: 1, volume: 10GB}
output: s3://models/small/
"""
BOM = b"\xef\xbb\xbf"
PARSER = b"import argparse\np = argparse.ArgumentParser()\np.add_argument('--epochs', type=int)\np.parse_args()\n"
PYTHON = b"#!/usr/bin/env python3\n"


@pytest.mark.parametrize("first", ["#!/bin/sh", "#!/bin/sh -e", "#!/usr/bin/env sh"])
def test_carriage_return_hides_the_interpreter(first, tmp_path):
    for ending, starts in (("\n", True), ("\r\n", False)):
        text = f"{first}{ending}true{ending}"
        script = ForeignScript(name="train.sh", file="src/train.sh", content=text.encode())
        assert script.has_broken_interpreter is not starts
        file = tmp_path / "train.sh"
        file.write_bytes(text.encode())
        file.chmod(0o755)
        try:
            status = subprocess.run([file], capture_output=True).returncode
        except FileNotFoundError:
            status = 127
        assert (status == 0) is starts


@pytest.fixture
def found(tmp_path):
    """Return (code, path) of what is found about an entry point; files without the execute bit have a `-` in front."""

    def findings(entry, source="src/", **files):
        (tmp_path / "src").mkdir(exist_ok=True)
        for name, content in files.items():
            file = tmp_path / "src" / name.lstrip("-")
            file.parent.mkdir(exist_ok=True)
            file.write_bytes(content)
            file.chmod(0o644 if name.startswith("-") else 0o755)
        spec = f"{HEAD}source: {json.dumps(source)}\nentry_point: {json.dumps(entry)}\n"
        (tmp_path / "job.yaml").write_text(spec)
        records = json.loads(smspec("validate", "job.yaml", "--format", "json", cwd=tmp_path).out)
        return [(one["code"], one["path"]) for one in records if one["code"].startswith("SM5")]

    return findings


UNREAD = ("SM512", "entry_point.command")
LOST = b"python3 train.py | tee log\n"
COMMANDS = {
    "a text": (["sh", "-c", "python3 train.py; cp a b"], {}, [("SM542", "entry_point.command[2]")]),
    "a text with errexit": (["bash", "-ec", "python3 train.py; cp a b"], {"train.py": b""}, []),
    "a text with both": (["bash", "-eo", "pipefail", "-c", "python3 train.py | tee log"], {"train.py": b""}, []),
    "a pipe": (
        ["/bin/bash", "-lc", "python3 train.py | tee log"],
        {"train.py": PARSER},
        [("SM542", "entry_point.command[2]")],
    ),
    "a text behind wrappers": (
        ["env", "A=1", "nice", "-n", "5", "bash", "-c", "python3 train.py; echo"],
        {},
        [("SM542", "entry_point.command[7]")],
    ),
    "a text of each process": (
        ["mpirun", "-np", "2", "sh", "-c", "python3 train.py; echo"],
        {},
        [("SM542", "entry_point.command[5]")],
    ),
    "a file behind a wrapper": (
        ["timeout", "3h", "bash", "run.sh"],
        {"run.sh": LOST},
        [UNREAD, ("SM542", "entry_point.command")],
    ),
    "a program behind a wrapper": (
        ["env", "A=1", "./run.sh"],
        {"run.sh": LOST},
        [UNREAD, ("SM542", "entry_point.command")],
    ),
    "a setting of the shell": (["env", "SHELLOPTS=errexit", "bash", "-c", "python3 train.py; echo"], {}, []),
    "an unknown wrapper": (["runner", "bash", "-c", "python3 train.py; echo"], {}, [UNREAD]),
    "a file": (["bash", "run.sh"], {"run.sh": LOST}, [UNREAD, ("SM542", "entry_point.command")]),
    "a file by its absolute path": (
        ["bash", "/opt/ml/code/run.sh"],
        {"run.sh": LOST},
        [UNREAD, ("SM542", "entry_point.command")],
    ),
    "an absolute path that starts": (
        ["/opt/ml/code/go"],
        {"go": b"#!/bin/bash\n/opt/ml/code/a.sh\n", "a.sh": b"#!/bin/bash\n" + LOST},
        [UNREAD, ("SM542", "entry_point.command")],
    ),
    "a path elsewhere": (["bash", "/opt/ml/coder/run.sh"], {"run.sh": LOST}, [UNREAD]),
    "a file that starts": (
        ["./run.sh"],
        {"run.sh": b"#!/bin/bash\n" + LOST},
        [UNREAD, ("SM542", "entry_point.command")],
    ),
    "a file of another shell": (["./run.sh"], {"run.sh": b"#!/bin/zsh\n" + LOST}, [UNREAD]),
    "a called file": (["bash", "-c", "sh run.sh"], {"run.sh": LOST}, [UNREAD, ("SM542", "entry_point.command[2]")]),
    "a carriage return": (
        ["./train"],
        {"train": PYTHON.replace(b"\n", b"\r\n") + PARSER},
        [("SM541", "entry_point.command")],
    ),
    "a byte order mark": (["./train"], {"train": BOM + PYTHON + PARSER}, [("SM541", "entry_point.command")]),
    "Python with a carriage return": (["python3", "train.py"], {"train.py": b"print(1)\r\n"}, []),
    "an unknown program": (["./train"], {"train": b"\x7fELF"}, [UNREAD]),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_command_is_read_like_a_script(name, found):
    command, files, expected = COMMANDS[name]
    assert found({"command": command}, **files) == expected


DAMAGED = {
    "a byte order mark": {"run.sh": BOM + b"#!/bin/bash\nexec python3 train.py\n"},
    "carriage returns": {"run.sh": b"python3 train.py\r\n"},
    "one carriage return": {"run.sh": b"#!/bin/bash\necho hi\r\n# text\r\ncd data\r\n"},
    "a called script": {"run.sh": b"#!/bin/bash\nexec bash sub.sh\n", "sub.sh": b"set -e\r\npython3 train.py\r\n"},
    "the interpreter of a called script": {"run.sh": b"exec ./sub.sh\n", "sub.sh": b"#!/bin/sh\r\ntrue\r\n"},
    "the interpreter of a called program": {"run.sh": b"exec ./sub\n", "sub": b"#!/usr/bin/env python3\r\n"},
    "a called script without a mode": {"run.sh": b"exec ./sub.sh\n", "-sub.sh": b"#!/bin/sh\ntrue\n"},
    "a called script and another mode": {"run.sh": b"chmod +x b.sh\nexec ./sub.sh\n", "-sub.sh": b"#!/bin/sh\n:\n"},
    "a mode that is too late": {"run.sh": b"set -e\n./sub.sh\nchmod +x sub.sh\n", "-sub.sh": b"#!/bin/sh\n:\n"},
    "a log of the caller": {"run.sh": b"set -e\nenv > $LOG\nexec sh sub.sh\n", "sub.sh": b"cd data\r\n"},
    "a test of a program": {
        "run.sh": b'[ -x "$(command -v a)" ] && env\n./sub.sh || exit 1\n',
        "-sub.sh": b"#!/bin/sh\n:\n",
    },
    "a mode in another directory": {"run.sh": b"chmod +x *.sh\nexec a/sub.sh\n", "-a/sub.sh": b"#!/bin/sh\n:\n"},
    "a mode in a comment": {"run.sh": b"# chmod +x sub.sh\nexec ./sub.sh\n", "-sub.sh": b"#!/bin/sh\n:\n"},
    "a mode without x": {"run.sh": b"chmod 644 sub.sh\nexec ./sub.sh\n", "-sub.sh": b"#!/bin/sh\n:\n"},
    "a different repair": {"run.sh": b"sed -i 's/\\r$//' b.sh\nexec sh sub.sh\n", "sub.sh": b"cd data\r\n"},
    "a sourced script": {"run.sh": b"set -e\nsource ./env.sh\nexec python3 a.py\n", "env.sh": b"cd data\r\n"},
    "a sourced script by its name": {"run.sh": b"#!/bin/bash -e\nsource env.sh\nenv\n", "env.sh": b"cd data\r\n"},
    "a sourced script of sh": {"run.sh": b"#!/bin/sh\nset -e\n. ./env.sh\nexec env\n", "env.sh": b"export A=b\r\n"},
    "a call of a call": {"run.sh": b"exec sh a.sh\n", "a.sh": b"exec sh ./b.sh\n", "b.sh": b"python3 train.py\r\n"},
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_script_is_reported(name, found):
    assert found("run.sh", **DAMAGED[name])[1:] == [("SM553", "entry_point.script")]


def test_channel_keeps_no_execute_bit(found):
    files = {"run.sh": b"exec ./sub.sh\n", "sub.sh": b"#!/bin/sh\ntrue\n"}
    assert found("run.sh", **files)[1:] == []
    assert found("run.sh", {"dir": "src/", "delivery": "channel"}, **files)[1:] == [("SM553", "entry_point.script")]


SOUND = {
    "a script": {"run.sh": b"#!/bin/bash\nexec python3 train.py\n"},
    "a script without a mode": {"-run.sh": b"#!/bin/bash\nexec python3 train.py\n"},
    "harmless carriage returns": {"run.sh": b"# text\r\necho hi\r\nexec python3 train.py\n"},
    "a called script with its shell": {
        "run.sh": b"exec bash sub.sh\n",
        "-sub.sh": b"#!/bin/sh\nexec python3 train.py\n",
    },
    **{
        f"a mode by {mode}": {"run.sh": b"set -e\n" + mode.encode() + b"\n", "-sub.sh": b"#!/bin/sh\nexec env\n"}
        for mode in (
            "chmod +x *.sh; exec ./sub.sh",
            "chmod -R a+rx .\nexec ./sub.sh",
            'chmod 755 "sub.sh" && exec ./sub.sh',
            'for f in *.sh; do chmod u+x "$f"; done\nexec ./sub.sh',
            "find . -name '*.sh' -exec chmod +x {} +\nexec ./sub.sh",
            "if [ -x ./sub.sh ]; then ./sub.sh; else sh sub.sh; fi",
            "if [[ -x sub.sh ]]; then ./sub.sh; fi",
            "test -x ./sub.sh && exec ./sub.sh",
            "./sub.sh || sh sub.sh",
        )
    },
    **{
        f"a repair by {repair}": {"run.sh": f"set -e\n{repair}\nexec sh sub.sh\n".encode(), "sub.sh": b"cd data\r\n"}
        for repair in (
            "sed -i 's/\\r$//' *.sh",
            "sed -i 's/\\r$//' sub.sh",
            "dos2unix sub.sh",
            "tr -d '\\r' <a >sub.sh",
        )
    },
    "a sourced script without status": {"run.sh": b"set -e\n. ./env.sh\nexec env\n", "-env.sh": b"cd a\ncp b c; d\n"},
    "a directory in between": {"run.sh": b"cd sub\nexec ./sub.sh\n", "-sub.sh": b"true\n"},
    "a file that another one makes": {"run.sh": b"make && exec ./program\n"},
    "itself": {"run.sh": b"[ $1 ] || exec bash run.sh 1\n"},
}


@pytest.mark.parametrize("name", SOUND)
def test_sound_script_is_accepted(name, found):
    assert found("run.sh", **SOUND[name])[1:] == []


STARTS = {
    "an option of Python": ["python3", "-u", "train.py"],
    "more options": ["/usr/bin/python3.12", "-B", "-OO", "./train.py"],
    "a module": ["python3", "-m", "pkg.train"],
    "a package": ["python3", "-u", "-m", "pkg"],
    "torchrun": ["torchrun", "--nproc_per_node", "4", "--nnodes=1", "train.py"],
    "a module of torchrun": ["torchrun", "--standalone", "-m", "pkg.train"],
    "its module": ["python3", "-m", "torch.distributed.run", "--nproc_per_node=2", "train.py"],
    "accelerate": ["accelerate", "launch", "--config_file", "a.yaml", "train.py"],
    "a program": ["./train"],
    "a program in a directory": ["pkg/start"],
}


@pytest.mark.parametrize("name", STARTS)
def test_arguments_of_a_command_are_compared(name, found):
    files = {"train.py": PARSER, "train": PYTHON + PARSER, "pkg/__init__.py": b"", "pkg/train.py": PARSER}
    files |= {"pkg/__main__.py": PARSER, "pkg/start": PYTHON + PARSER}
    command = STARTS[name]
    assert found({"command": [*command, "--epochs", "3"]}, **files) == []
    assert found({"command": [*command, "--epochs", "x"]}, **files) == [
        ("SM503", f"entry_point.command[{len(command)}]")
    ]


def test_script_with_a_python_interpreter_is_read(found):
    assert found({"script": "train", "args": ["--epochs", "x"]}, train=PYTHON + PARSER) == [
        ("SM503", "entry_point.args[0]")
    ]


def test_deepspeed_passes_the_rank(found):
    ranked = PARSER.replace(b"p.parse", b"p.add_argument('--local_rank', type=int)\np.parse")
    command = ["deepspeed", "--num_gpus", "2", "train.py", "--epochs", "3"]
    assert found({"command": command}, **{"train.py": ranked}) == []
    assert [code for code, _ in found({"command": command}, **{"train.py": PARSER})] == ["SM501"]
    assert found({"command": ["deepspeed", "--no_local_rank", *command[1:]]}, **{"train.py": PARSER}) == []


@pytest.mark.parametrize(
    "command",
    [["python3", "-c", "x"], ["python3", "-P", "train.py"], ["torchrun", "-m"], ["accelerate", "env"], ["make"]],
)
def test_other_commands_stay_unread(command, found):
    assert found({"command": command}, **{"train.py": PARSER}) == [UNREAD]


CR = b"set -e\r\nmkdir -p q\r\n"
STARTED_BY_PYTHON = {
    "a list": ("subprocess.check_call(['bash', 'prep.sh'])", {"prep.sh": CR}, ["SM553"]),
    "a text": ("os.system('bash prep.sh && echo')", {"prep.sh": CR}, ["SM553"]),
    "a text for a shell": ("subprocess.run('sh ./prep.sh', shell=True)", {"prep.sh": CR}, ["SM553"]),
    "a file": ("subprocess.run(['./prep.sh'])", {"prep.sh": b"#!/bin/sh\r\nls\r\n"}, ["SM553"]),
    "a file that is not executable": ("subprocess.run(['./prep.sh'])", {"-prep.sh": b"#!/bin/sh\nls\n"}, ["SM553"]),
    "a byte order mark": ("subprocess.run(['./prep.sh'])", {"prep.sh": BOM + b"#!/bin/bash\nls\n"}, ["SM553"]),
    "a script that it calls": (
        "subprocess.run(['bash', 'prep.sh'])",
        {"prep.sh": b"bash sub.sh\n", "sub.sh": CR},
        ["SM553"],
    ),
    "line ends of Linux": ("subprocess.run(['bash', 'prep.sh'])", {"prep.sh": b"set -e\nls\n"}, []),
    "its status": ("subprocess.run(['bash', 'prep.sh'])", {"prep.sh": LOST + b"echo\n"}, []),
    "another directory": ("subprocess.run(['bash', 'prep.sh'], cwd='x')", {"prep.sh": CR}, []),
    "another start": ("os.chdir('x'); os.system('bash prep.sh')", {"prep.sh": CR}, []),
    "a repair": ("os.system('dos2unix prep.sh'); os.system('bash prep.sh')", {"prep.sh": CR}, []),
    "a writer": ("open('prep.sh', 'w').write('ls')\nos.system('bash prep.sh')", {"prep.sh": CR}, []),
    "a mode": ("os.chmod('prep.sh', 493)\nsubprocess.run(['./prep.sh'])", {"-prep.sh": b"#!/bin/sh\nls\n"}, []),
    "no start": ("print(['bash', 'prep.sh'])", {"prep.sh": CR}, []),
    "another script": ("subprocess.run(['bash', '/opt/x/prep.sh'])", {"prep.sh": CR}, []),
}


@pytest.mark.parametrize("name", STARTED_BY_PYTHON)
def test_script_that_a_program_starts_is_checked(name, found):
    line, files, expected = STARTED_BY_PYTHON[name]
    program = f"import os, subprocess\n{line}\n".encode()
    for entry in ("train.py", {"command": ["python3", "train.py"]}):
        assert [code for code, _ in found(entry, **{"train.py": program, **files})] == expected
