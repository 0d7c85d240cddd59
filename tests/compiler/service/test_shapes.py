"""The pinned model is complete."""

import re

from smspec.service.shapes import pinned_model


def test_every_reference_has_a_shape():
    model = pinned_model()
    for shape in model.shapes.values():
        for name in filter(None, [*shape.members.values(), shape.item, shape.key]):
            assert name in model.shapes
        assert set(shape.required) <= set(shape.members)
        assert {"list": not shape.item, "map": not (shape.item and shape.key)}.get(shape.kind, False) is False


def test_walk_visits_every_path_once():
    paths = [path for path, _ in pinned_model().walk()]
    assert len(paths) == len(set(paths))
    assert ("TrainingJobName",) in paths
    assert ("InputDataConfig", 0, "DataSource", "S3DataSource", "AttributeNames", 0) in paths
    assert ("HyperParameters", "*") in paths
    assert ("ResourceConfig", "InstanceGroups", 0, "InstanceCount") in paths


def test_model_contains_its_version_and_date():
    model = pinned_model()
    assert re.fullmatch(r"\d+\.\d+\.\d+", model.botocore)
    assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", model.date)


def test_members_keep_the_order_of_the_model():
    assert list(pinned_model().root.members)[:4] == [
        "TrainingJobName",
        "HyperParameters",
        "AlgorithmSpecification",
        "RoleArn",
    ]
