"""Generated texts equal the files in ``expected/``. ``--update`` rewrites them; then read the diff."""

from pathlib import Path

import pytest

from smspec.render.dockerfile import dockerfile, dockerignore, entrypoint
from smspec_runtime.run_plan import RunPlan
from support.render.plan_samples import image_plan

EXPECTED = Path(__file__).parent / "expected"
HASHED = b"six==1.16.0 --hash=sha256:" + b"ab" * 32 + b"\n"

EVERYTHING = image_plan(
    base="registry.example.com:5000/team/base:1.2@sha256:" + "ab" * 32,
    system_packages=("libgomp1", "git=1:2.39.5-0+deb12u2"),
    python_packages=("numpy==2.1.0", "torch>=2,<3"),
    python_requirements="requirements.txt",
    env={"GREETING": 'say "$HOME"\\', "HF_TOKEN_FILE": "/run/token"},
    run=("make -C /opt/tool install", "set -e\ncd /opt\n./configure --quiet\n"),
    user="1000",
    build_args={"MAX_JOBS": "4"},
    pre_install=("echo 'deb https://repo.example.com/debian bookworm main' > /etc/apt/sources.list.d/team.list",),
    env_prepend={"LD_LIBRARY_PATH": "/opt/amazon/efa/lib"},
    labels={"Team": "ads", "org.opencontainers.image.source": "https://example.com/jobs"},
    needs_ssh=True,
)

TEXTS = {
    "Dockerfile.plain": lambda: dockerfile(image_plan()),
    "Dockerfile.everything": lambda: dockerfile(EVERYTHING, HASHED),
    "Dockerfile.without-source": lambda: dockerfile(image_plan(holds_source=False, python_packages=("boto3",))),
    "dockerignore.everything": lambda: dockerignore(EVERYTHING, HASHED),
    "entrypoint.script": lambda: entrypoint(RunPlan(kind="script", program="train.py")),
    "entrypoint.script-torchrun": lambda: entrypoint(
        RunPlan(
            kind="script",
            program="src/train.py",
            arguments=["--config", "a b.yaml"],
            launcher="torchrun",
            delivery="s3",
        )
    ),
    "entrypoint.command": lambda: entrypoint(
        RunPlan(kind="command", command=["./train", "--greeting", 'say "hi"'], args_style="none", delivery="channel")
    ),
    "entrypoint.module": lambda: entrypoint(RunPlan(kind="module", program="ctr.training:main", launcher="mpi")),
    "entrypoint.pipe-loop": lambda: entrypoint(RunPlan(kind="pipe_loop", program="ctr.reader:Trainer")),
}


@pytest.mark.parametrize("name", TEXTS)
def test_text_equals_the_expected_file(name, update):
    file = EXPECTED / f"{name}.txt"
    if update:
        file.parent.mkdir(exist_ok=True)
        file.write_text(TEXTS[name]())
    assert TEXTS[name]() == file.read_text()


def test_every_expected_file_is_used():
    assert {file.name for file in EXPECTED.iterdir()} == {f"{name}.txt" for name in TEXTS}
