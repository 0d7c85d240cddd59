"""Commands of Fire and LightningCLI, nested fields of tyro, and overrides of Hydra."""

import pytest

from support.script.read_programs import findings

FIRE = """import fire
class Trainer:
    def __init__(self, lr, epochs=1):
        self.lr = lr
    def train(self, batch=1):
        print(batch)
fire.Fire(Trainer)
"""
TYRO = """import tyro
from dataclasses import dataclass, field
@dataclass
class Model:
    hidden_dim: int
@dataclass
class Config:
    model: Model
    lr: float = 0.1
tyro.cli(Config)
"""
HYDRA = "import hydra\n@hydra.main(version_base=None)\ndef main(c):\n    pass\nmain()\n"
LIGHTNING = "from lightning.pytorch.cli import LightningCLI\nLightningCLI(Model, Data)\n"


def found(text, args, **hyperparameters):
    entry = {"script": "train.py", **({"args": args} if args else {})}
    return [one.code for one in findings(text, entry_point=entry, hyperparameters=hyperparameters)]


@pytest.mark.parametrize(
    ("args", "hyperparameters", "reported"),
    [
        ([], {"lr": 0.1}, []),
        ([], {"lr": 0.1, "epoch": 2}, ["SM501"]),
        ([], {"epochs": 2}, ["SM502"]),
        ([], {"lr": 0.1, "batch": 2}, ["SM501"]),
        (["train"], {"lr": 0.1, "batch": 2}, []),
        (["train"], {"lr": 0.1, "batches": 2}, ["SM501"]),
        (["train"], {"batch": 2}, ["SM502"]),
        (["evaluate"], {"batches": 2}, []),
    ],
)
def test_options_of_a_fire_class(args, hyperparameters, reported):
    assert found(FIRE, args, **hyperparameters) == reported


@pytest.mark.parametrize(
    "change", [("Trainer:", "Trainer(Base):"), ("(self, lr,", "(self, *lr,"), ("train", "__call__")]
)
def test_unknown_fire_class_is_a_note(change):
    assert found(FIRE.replace(*change), [], epoch=2) == ["SM513"]


@pytest.mark.parametrize(
    ("hyperparameters", "reported"),
    [
        ({"model.hidden_dim": 3}, []),
        ({"model.hidden-dim": 3, "lr": 1}, []),
        ({"model.hidden_dims": 3}, ["SM501"]),
        ({"model.hidden_dim": "x"}, ["SM503"]),
        ({"lr": 1}, ["SM502"]),
    ],
)
def test_nested_fields_of_tyro(hyperparameters, reported):
    assert found(TYRO, [], **hyperparameters) == reported


def test_default_of_a_nested_field_satisfies_it():
    text = TYRO.replace("model: Model", "model: Model = field(default_factory=lambda: Model(1))")
    assert found(text, [], lr=1) == []
    assert found(text, [], **{"model.depth": 1}) == ["SM501"]


@pytest.mark.parametrize(
    ("args", "reported"), [(["+lr=0.1"], []), (["~lr"], []), (["train"], ["SM503"]), (["lr=1", "fast"], ["SM503"])]
)
def test_override_of_hydra_is_a_pair(args, reported):
    assert found(HYDRA, args) == reported


@pytest.mark.parametrize(
    ("args", "reported"),
    [
        (["fit"], ["SM513"]),
        ([], ["SM502"]),
        (["--config", "fit.yaml"], ["SM513"]),
        (["--trainer.max_epochs=1"], ["SM502", "SM513"]),
    ],
)
def test_lightning_needs_a_command(args, reported):
    assert found(LIGHTNING, args) == reported


@pytest.mark.parametrize("more", ["run=False", "args=['fit']", "parser_kwargs={'default_env': True}"])
def test_other_use_of_lightning_is_a_note(more):
    assert found(LIGHTNING.replace("Data)", f"Data, {more})"), ["fit"]) == ["SM513"]
