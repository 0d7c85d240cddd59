"""Keys of what the script receives: `hyperparameters`, their encoding, and `environment`."""

from __future__ import annotations

from smspec.spec import model
from smspec.spec.keys.row import ANYONE, AZURE, KUBERNETES, SAGIFY, SDK, SKYPILOT, Row
from smspec.spec.keys.value_forms import TYPED_MAP, WORDS_BY_NAME, WRITTEN_MAP, word

ROWS: tuple[Row, ...] = (
    Row(
        "hyperparameters",
        TYPED_MAP,
        "HyperParameters",
        kind="hyperparameters",
        called="hyperparameter",
        group="parameters",
        irregular=True,
        words={
            SDK: "compiler_config training_recipe recipe_overrides",
            AZURE: "search_space",
            SAGIFY: "hyperparams_file",
            ANYONE: "hparams hyperparams params parameters",
        },
    ),
    Row("hyperparameter_encoding", word(model.HyperparameterEncoding), kind="hyperparameters", group="parameters"),
    Row(
        "environment",
        WRITTEN_MAP,
        "Environment",
        kind="environment",
        called="environment variable",
        group="parameters",
        words={
            SDK: "environment_variables container_log_level",
            SKYPILOT: "envs",
            KUBERNETES: "env envFrom configMap",
        },
    ),
    Row("secrets", WORDS_BY_NAME, kind="security", group="parameters", words={KUBERNETES: "secret secretKeyRef"}),
)
