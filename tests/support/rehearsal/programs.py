"""The training programs of tests/rehearsal/programs, and the jobs that they are the scripts of."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import dataclass, field
from pathlib import Path

DIRECTORY = Path(__file__).parents[2] / "rehearsal/programs"
_PACKAGES = {
    "plain": [],
    "numpy": ["numpy"],
    "sklearn": ["joblib", "numpy", "scikit-learn"],
    "torch": ["numpy", "torch"],
}
LOSS = {"name": "loss", "regex": "loss=([0-9.e+-]+)"}


@dataclass(frozen=True)
class Program:
    """A program that resumes from its checkpoints, and what its job has."""

    name: str
    hyperparameters: dict[str, object] = field(default_factory=dict)
    metrics: tuple[dict[str, str], ...] = (LOSS,)
    hosts: int = 1
    channels: dict[str, dict[str, str]] = field(default_factory=dict)
    """Files of each channel, text by name."""
    repeats: bool = True
    """Whether two runs without an interruption give the same model."""

    @property
    def library(self) -> str:
        """Return `plain`, `numpy`, `sklearn`, or `torch`."""
        return self.name.partition("_")[0]

    @property
    def missing(self) -> str | None:
        """Return the library that this Python does not have, or None."""
        return None if self.library == "plain" or importlib.util.find_spec(self.library) else self.library

    @property
    def source(self) -> str:
        """Return the text of the program."""
        return (DIRECTORY / f"{self.name}.py").read_text(encoding="utf-8")

    def write_job(self, directory: Path, source: str) -> Path:
        """Write a job whose script has the text ``source``, with its data; return the path of the spec."""
        (directory / "src").mkdir(parents=True, exist_ok=True)
        (directory / "src/train.py").write_text(source, encoding="utf-8")
        channels = {}
        for channel, files in self.channels.items():
            (directory / "data" / channel).mkdir(parents=True)
            for name, text in files.items():
                (directory / "data" / channel / name).write_text(text, encoding="utf-8")
            channels[channel] = {"s3": f"s3://example-data/{channel}/", "local": f"data/{channel}/"}
        spec = {
            "smspec": "v1",
            "name": self.name.replace("_", "-"),
            "role": "arn:aws:iam::111122223333:role/SageMakerTraining",
            "region": "us-west-2",
            "image": {
                "base": "python:3.12-slim",
                "python_packages": _PACKAGES[self.library],
            },
            "source": "src/",
            "entry_point": "train.py",
            "hosts": {"instance_type": "ml.m5.large", "count": self.hosts, "volume": "5GB"},
            "stopping": {"max_runtime": "1h"},
            "spot": {"max_wait": "2h"},
            "checkpoints": f"s3://example-checkpoints/{self.name.replace('_', '-')}/",
            "output": "s3://example-models/rehearsal/",
            "metrics": list(self.metrics),
            "channels": channels,
            "hyperparameters": self.hyperparameters,
        }
        path = directory / "job.yaml"
        path.write_text(json.dumps({key: value for key, value in spec.items() if value not in ([], {})}, indent=2))
        return path


_SHARDS = {f"part-{n:03d}": "".join(f"{'spot' * (n % 4)}{n * k} {k}\n" for k in range(9)) for n in range(14)}
_ROWS = {f"{n}.csv": "".join(f"{k / 9},{(k * n) % 5},{k - n}\n" for k in range(10)) for n in range(3)}
_NUMBERS = "".join(f"{(37 * n) % 101 / 50 - 1}\n" for n in range(150))

PROGRAMS = (
    Program("plain_json", {"epochs": 10, "lr": 0.05}),
    Program("plain_steps", {"epochs": 4, "save-steps": 20}),
    Program("plain_sigterm", {"epochs": 8}),
    Program("plain_two_slots"),
    Program("plain_latest", {"iterations": 120, "checkpoint-path": "/opt/ml/checkpoints/als"}),
    Program("plain_early_stopping", {"patience": 8}),
    Program("plain_timed", metrics=({"name": "regret", "regex": "regret=([0-9.]+)"},)),
    Program("plain_noisy", repeats=False),
    Program("plain_rounded", metrics=({"name": "accuracy", "regex": "accuracy=([0-9.]+)"},), repeats=False),
    Program("plain_labels", repeats=False),
    Program("plain_hosts", hosts=2, metrics=({"name": "words", "regex": "words=([0-9]+)"},)),
    Program("plain_warm_start", channels={"model": {"weights.json": "[0.4, -0.3]"}, "train": _ROWS}),
    Program("plain_momentum", {"epochs": 6, "learning_rate": 0.2}),
    Program("plain_shards", channels={"train": _SHARDS}, metrics=({"name": "pairs", "regex": "pairs=([0-9]+)"},)),
    Program("plain_evolution", metrics=({"name": "score", "regex": "score=([-0-9.]+)"},)),
    Program(
        "plain_boosting",
        {"num_round": 24, "eta": 0.3},
        metrics=({"name": "train:rmse", "regex": ".*\\[[0-9]+\\].*#011train-rmse:([-+]?[0-9]*\\.?[0-9]+).*"},),
    ),
    Program("plain_sqlite", metrics=({"name": "reward", "regex": "reward=([-0-9.]+)"},)),
    Program("plain_no_output", metrics=()),
    Program("plain_pool", metrics=()),
    Program("plain_thousand_files", metrics=({"name": "mean", "regex": "mean=([0-9.]+)"},)),
    Program("plain_short"),
    Program("plain_stubborn"),
    Program("plain_talkative"),
    Program("plain_writer_thread"),
    Program("plain_links"),
    Program("plain_keep_three"),
    Program("plain_ranks", hosts=2),
    Program("plain_loaders"),
    Program("plain_halving"),
    Program("plain_shuffle_buffer", channels={"train": {"rows.txt": _NUMBERS}}),
    Program("plain_replay", metrics=({"name": "loss", "regex": "loss=([-0-9.]+)"},)),
    Program("plain_folds", metrics=(), repeats=False),
    Program("numpy_logistic", {"epochs": 8, "learning-rate": 0.1, "seed": 1}),
    Program("numpy_adam"),
    Program("numpy_ema"),
    Program("numpy_tensors", {"max-steps": 130, "accumulate": 8}),
    Program("numpy_kmeans"),
    Program("numpy_converging"),
    Program("numpy_memmap"),
    Program("numpy_callbacks"),
    Program("numpy_adversaries", metrics=({"name": "loss", "regex": "loss=([-0-9.]+)"},)),
    Program("sklearn_stream", metrics=({"name": "accuracy", "regex": "accuracy=([0-9.]+)"},)),
    Program("torch_imagenet", {"epochs": 7}),
    Program("torch_trainer", metrics=({"name": "loss", "regex": "'loss': ([0-9.e-]+)"},)),
    Program("torch_amp"),
    Program("torch_workers", {"epochs": 6}),
    Program("torch_modules"),
)
BY_NAME = {program.name: program for program in PROGRAMS}
