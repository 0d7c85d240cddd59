"""Hyperparameters are imported with types, in the simplest encoding that sends equal texts."""

import pytest

from smspec.source import SourceText, to_data
from smspec.spec.yaml import read
from support.service.api_samples import small_request
from support.service.imported_requests import changed_paths, imported


def spec_of(texts):
    request = {**small_request(), "HyperParameters": texts}
    written = imported(request)
    assert changed_paths(written.text, request) == []
    return to_data(read(SourceText("job.yaml", written.text)).root)


@pytest.mark.parametrize(
    ("texts", "values", "encoding"),
    [
        ({"a": "5", "b": "0.1", "c": "1e-3", "d": "true"}, {"a": 5, "b": 0.1, "c": 1e-3, "d": True}, None),
        ({"a": "adam", "b": "True", "c": "007", "d": "no"}, {"a": "adam", "b": "True", "c": "007", "d": "no"}, None),
        ({"a": '"5"', "b": '"true"'}, {"a": "5", "b": "true"}, None),
        ({"a": "[256, 64]", "b": '{"x": [1.5, "y"]}'}, {"a": [256, 64], "b": {"x": [1.5, "y"]}}, None),
        ({"a": "-Infinity"}, {"a": float("-inf")}, None),
        ({"a": "${{ x }}", "b": "5"}, {"a": "${{ vars.dollar }}{{ x }}", "b": 5}, None),
        ({"a": "", "b": '""'}, {"a": "", "b": '""'}, "raw"),
        ({"a": '"adam"', "b": "5"}, {"a": "adam", "b": 5}, "json_strings"),
        ({"a": '"adam"', "b": "sgd", "c": "5"}, {"a": '"adam"', "b": "sgd", "c": 5}, "raw"),
        ({"a": "[10,20]"}, {"a": "[10,20]"}, "raw"),
        ({"a": "null"}, {"a": "null"}, "raw"),
        ({"a": "[1, null]"}, {"a": "[1, null]"}, "raw"),
        ({"a": '"\\u00e9"'}, {"a": '"\\u00e9"'}, "raw"),
    ],
)
def test_encoding_of_values_is_recognized(texts, values, encoding):
    spec = spec_of(texts)
    assert spec["hyperparameters"] == values
    assert {name: type(value) for name, value in spec["hyperparameters"].items()} == {
        n: type(v) for n, v in values.items()
    }
    assert spec.get("hyperparameter_encoding") == encoding


def test_missing_and_empty_hyperparameters_differ():
    assert "hyperparameters" not in spec_of({})
    assert spec_of({})["api"] == {"HyperParameters": {}}
