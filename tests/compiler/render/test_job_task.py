"""The Task state of a state machine: no string of the request becomes an expression."""

import json

import pytest

from smspec.render.step_functions import step_functions
from smspec.render.tree import NothingToRender
from support.service import api_samples


def test_name_like_a_path_is_not_an_expression():
    hyperparameters = {"a.$": "x"}
    state = json.loads(step_functions([api_samples.changed(HyperParameters=hyperparameters)]).text)["States"]["Train"]
    assert (state["QueryLanguage"], state["Arguments"]["HyperParameters"]) == ("JSONata", hyperparameters)
    with pytest.raises(NothingToRender, match="either language"):
        step_functions([api_samples.changed(HyperParameters={"a.$": "{% $x %}"})])


def test_job_without_room_for_a_tag_is_rejected():
    tags = [{"Key": f"k{number}", "Value": "v"} for number in range(50)]
    assert step_functions([api_samples.changed(Tags=tags[:49])]).text
    with pytest.raises(NothingToRender, match="50 tags"):
        step_functions([api_samples.changed(Tags=tags)])
