"""Which of the processes of a host computes."""

from __future__ import annotations

import pytest

from smspec.local.watch.machine_processes import MachineProcess
from smspec.local.watch.memory_watch import RANK, SCRIPT, WORKER, training_process

RUNTIME = "python3 /opt/smspec/entrypoint.py train"
SCRIPT_WORDS = "python3 train.py --lr 1"
FORKSERVER = "python3 -c from multiprocessing.forkserver import main; main(5)"
TRACKER = "python3 -c from multiprocessing.resource_tracker import main;main(8)"


def processes(*described):
    """Return processes from (parent, words, environment …), numbered from 1."""
    return [
        MachineProcess(
            number=number,
            parent=parent,
            words=tuple(words.encode().split(b" ")),
            environment="\0".join(variables).encode(),
        )
        for number, (parent, words, *variables) in enumerate(described, 1)
    ]


@pytest.mark.parametrize(
    ("described", "kind", "number"),
    [
        ([(0, RUNTIME), (1, SCRIPT_WORDS)], SCRIPT, 2),
        ([(0, "/train")], SCRIPT, 1),
        ([(0, "python3 /train"), (1, "python3 /train")], WORKER, 2),
        ([(0, RUNTIME), (1, SCRIPT_WORDS), (2, SCRIPT_WORDS), (2, SCRIPT_WORDS)], WORKER, 4),
        ([(0, RUNTIME), (1, SCRIPT_WORDS), (2, TRACKER), (2, FORKSERVER), (4, FORKSERVER)], WORKER, 5),
        ([(0, RUNTIME), (1, SCRIPT_WORDS), (2, TRACKER)], SCRIPT, 2),
        ([(0, RUNTIME), (1, SCRIPT_WORDS), (2, "nvidia-smi -l 1"), (2, "bash -c top")], SCRIPT, 2),
        ([(0, RUNTIME), (1, SCRIPT_WORDS), (2, "python3 worker.py")], WORKER, 3),
        ([(0, RUNTIME), (1, "bash run.sh"), (2, SCRIPT_WORDS)], WORKER, 3),
        (
            [
                (0, RUNTIME),
                (1, "python3 torchrun train.py"),
                (2, SCRIPT_WORDS, "HOME=/", "LOCAL_RANK=0"),
                (2, SCRIPT_WORDS, "LOCAL_RANK=1"),
                (4, SCRIPT_WORDS, "LOCAL_RANK=1"),
            ],
            RANK,
            4,
        ),
        ([(0, RUNTIME), (1, "orted"), (2, SCRIPT_WORDS, "OMPI_COMM_WORLD_RANK=3")], RANK, 3),
    ],
    ids=[
        "script",
        "an image without the runtime",
        "its fork",
        "forks",
        "multiprocessing",
        "helper of multiprocessing",
        "other programs",
        "a Python file",
        "shell",
        "torchrun with a worker",
        "mpirun",
    ],
)
def test_training_process_is_a_rank_a_worker_or_the_script(described, kind, number):
    found = training_process(processes(*described))
    assert found is not None
    assert (found.kind, found.process.number) == (kind, number)


def test_host_whose_script_has_not_started_has_none():
    assert training_process([]) is None
    assert training_process(processes((0, RUNTIME))) is None
    pip = "python3 -m pip install -r requirements.txt"
    assert training_process(processes((0, RUNTIME), (1, pip), (2, "python3 setup.py bdist_wheel"))) is None
