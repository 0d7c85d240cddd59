"""Every limit of the API model, broken in a raw request, is reported at its position only."""

import pytest

from smspec.pipeline.request_file import check_request
from smspec.service.patterns import matches
from smspec.service.shape_limits import SHAPE_RULES
from smspec.service.shapes import pinned_model
from smspec.source import SourceText
from support.service.api_samples import concrete, fill, small_request
from support.service.raw_requests import place_of, written

MODEL = pinned_model()
SHAPES = {rule.code for rule in SHAPE_RULES}
OTHER = {"structure": "text", "map": "text", "list": {}, "string": 5, "integer": "5", "long": True, "boolean": "true"}
UNMATCHED = ("…", "a b", "%", "-", "a\nb", "1 ", "s3:/")


def broken(shape):
    """Yield (code, wrong value, whether the key is marked) for every constraint of a shape."""
    yield "SM401", OTHER[shape.kind], False
    yield "SM401", None, False
    if shape.kind in ("integer", "long"):
        yield "SM401", True, False
        yield "SM401", 1.5, False
        if shape.minimum is not None:
            yield "SM408", shape.minimum - 1, False
        yield "SM409", (shape.maximum or 2**63 - 1) + 1, False
    if shape.kind == "structure":
        yield "SM402", {"Surprise": 1}, True
    if shape.kind == "string":
        if shape.minimum:
            yield "SM404", "a" * (shape.minimum - 1), False
        if shape.maximum is not None and not shape.enum:
            yield "SM405", "a" * (shape.maximum + 1), False
        if shape.enum:
            yield "SM407", "none of them", False
        elif shape.pattern is not None:
            yield from (("SM406", text, False) for text in UNMATCHED if not fits_pattern(shape, text))
    if shape.kind == "list":
        if shape.minimum:
            yield "SM410", [], True
        if shape.maximum is not None:
            yield "SM411", ["x"] * (shape.maximum + 1), True
    if shape.kind == "map" and shape.maximum is not None:
        yield "SM412", {f"k{n}": "x" for n in range(shape.maximum + 1)}, True


def fits_pattern(shape, text):
    short = (shape.minimum or 0) <= len(text) <= (shape.maximum or 10**6)
    return not short or matches(shape.pattern, text)


def cases():
    """Yield (request, code, path, on) for everything that can be broken in one place."""
    for path, shape in MODEL.walk():
        for code, value, on_key in broken(shape):
            request = small_request()
            holder, key = fill(request, path)
            holder[key] = value
            here = concrete(MODEL, path)
            if code == "SM402":
                here = (*here, "Surprise")
            yield request, code, here, "key" if on_key else "value"
        for name in shape.required:
            request = small_request()
            holder, key = fill(request, path)
            del holder[key][name]
            yield request, "SM403", (*concrete(MODEL, path), name), "key"


def test_every_limit_of_the_model_is_located():
    count = exact = 0
    wrong = []
    for request, code, path, on in cases():
        found = check_request(SourceText("request.json", written(request))).diagnostics
        if {d.code for d in found} == {"SM115"}:  # an ideograph or a digit that only looks like one of a name
            count, exact = count + 1, exact + 1
            continue
        here = [d for d in found if d.code == code and d.path == path]
        count += 1
        if len(here) != 1:
            wrong.append((code, path, [(d.code, d.path) for d in found]))
            continue
        exact += (here[0].span.line, here[0].span.column) == place_of(request, path, on)
    assert wrong == []
    assert count > 800
    assert exact == count


@pytest.mark.parametrize("member", MODEL.root.required)
def test_missing_member_points_at_the_request(member):
    request = small_request()
    del request[member]
    (found,) = check_request(SourceText("request.json", written(request))).diagnostics
    assert (found.code, found.path, found.span.line, found.span.column) == ("SM403", (member,), 1, 1)
