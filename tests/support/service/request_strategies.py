"""Requests for hypothesis over the whole API model, with texts that readers often misread."""

from __future__ import annotations

from hypothesis import strategies as st

from smspec.service.shapes import Model, Shape, pinned_model
from support.service.api_samples import TEXTS, is_allowed, small_request, text

HOSTILE = (
    "",
    " ",
    " leading and trailing ",
    "null",
    "~",
    "true",
    "False",
    "no",
    "On",
    "1",
    "-0",
    "007",
    "0x1F",
    "1e-3",
    "1E400",
    ".5",
    "5.",
    "+5",
    "NaN",
    "-Infinity",
    "Infinity",
    ".inf",
    "1_000",
    "12:30:00",
    "2026-01-01",
    "9" * 400,
    '"quoted"',
    '"null"',
    '""',
    "'single'",
    "[256, 64]",
    "[10,20]",
    '{"a": [1, null]}',
    '{"a": {"b": 1e-3}}',
    '{"a": 1, "a": 2}',
    "[" * 70,
    "${{ vars.a }}",
    "$${{",
    "a ${{ vars.dollar }}{{ b",
    "# no comment",
    "a # comment",
    "key: value",
    "- item",
    "? what",
    "*alias",
    "&anchor",
    "!tag",
    "%directive",
    "@at",
    "`tick`",
    "|",
    ">-",
    "{",
    "}",
    "---",
    "...",
    "<<",
    "=",
    "tab\there",
    "back\\slash \\n",
    "line\nbreak",
    "\n",
    "two\n\n  lines\n",
    "carriage\rreturn",
    "nul\0",
    "escape\x1b[31m",
    "next\x85line\u2028separator",
    "\ufeffmark",
    "right\u202eto left",
    "Zürich 東京 🚀",
    "e\u0301",
    "{% $states.input %}",
)

_ROLE = TEXTS["RoleArn"]


def texts(shape: Shape) -> st.SearchStrategy[str]:
    """Draw texts that a shape allows."""
    if shape.enum:
        return st.sampled_from(shape.enum)
    if shape.name == "RoleArn":
        return st.just(_ROLE)
    if shape.name == "S3Uri":
        # In a spec an S3 URI has a bucket.
        return st.sampled_from(HOSTILE).filter(lambda t: "\n" not in t and "\r" not in t).map("s3://bucket/{}".format)
    allowed = [candidate for candidate in HOSTILE if is_allowed(shape, candidate)]
    if shape.name == "AlgorithmImage":
        allowed.remove("")  # as a spec's image is at least something
    choices = st.sampled_from([text(shape), *allowed])
    if shape.pattern in (None, ".*", ".+"):
        free = st.text(min_size=shape.minimum or 0, max_size=12)
        choices |= free.filter(lambda t: is_allowed(shape, t) and (t != "" or shape.name != "AlgorithmImage"))
    return choices


def values(model: Model, shape: Shape, name: str = "") -> st.SearchStrategy[object]:
    """Draw values of a shape, with any of its optional members."""
    if shape.kind == "structure":
        members = {member: values(model, model.shapes[kind], member) for member, kind in shape.members.items()}
        required = {member: members.pop(member) for member in shape.required}
        return st.fixed_dictionaries(required, optional=members)
    if shape.kind == "list":
        item = model.shapes[shape.item]
        largest = min(shape.maximum or 3, 3)
        return st.lists(values(model, item), min_size=min(shape.minimum or 0, largest), max_size=largest)
    if shape.kind == "map":
        keys, inner = texts(model.shapes[shape.key]), texts(model.shapes[shape.item])
        return st.dictionaries(keys, inner, max_size=4)
    if shape.kind == "boolean":
        return st.booleans()
    if shape.kind == "string":
        return texts(shape)
    # The model lets answers say zero hosts; a request may not.
    least = max(shape.minimum or 0, 1) if shape.name != "Seed" else 0
    return st.integers(least, min(shape.maximum or 2**31 - 1, 2**31 - 1)) | st.sampled_from([least])


def requests() -> st.SearchStrategy[dict[str, object]]:
    """Draw requests within the shapes of the model: a small one, with any members put in or in the place of others."""
    model = pinned_model()
    members = {name: values(model, model.shapes[kind], name) for name, kind in model.root.members.items()}
    changed = st.fixed_dictionaries({}, optional=members)
    return changed.map(lambda more: _with_an_algorithm({**small_request(), **more}))


def _with_an_algorithm(request: dict[str, object]) -> dict[str, object]:
    """Return the request with what it runs, which the shapes alone do not ask for."""
    algorithm = request["AlgorithmSpecification"]
    if {"TrainingImage", "AlgorithmName"} & {*algorithm} or "ServerlessJobConfig" in request:
        return request
    return {**request, "AlgorithmSpecification": {**algorithm, "TrainingImage": "image"}}


def anything() -> st.SearchStrategy[dict[str, object]]:
    """Draw objects with the member names of a request and any JSON values."""
    model = pinned_model()
    names = sorted({member for shape in model.shapes.values() for member in shape.members})
    leaves = (
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.sampled_from(HOSTILE)
        | st.text(max_size=8)
    )
    inner = st.recursive(
        leaves,
        lambda children: (
            st.lists(children, max_size=3) | st.dictionaries(st.sampled_from([*names, *HOSTILE]), children, max_size=4)
        ),
        max_leaves=12,
    )
    members = dict.fromkeys(model.root.members, inner)
    return st.fixed_dictionaries({}, optional=members).map(lambda more: {**small_request(), **more})
