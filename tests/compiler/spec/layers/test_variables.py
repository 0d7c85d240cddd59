"""Variables: declared, set, and replaced."""

import pytest

from smspec.diagnostics import InvalidInput
from smspec.source import SourceText, to_data
from smspec.spec.layers import merged
from smspec.spec.layers.variables import OptionError
from smspec.spec.yaml import read

VARS = (
    "vars: {size: {default: 7b, enum: [7b, 13b]}, rate: {default: 1e-3}, on: {default: true}, text: {default: '5'}, "
    "free: {}}\n"
)


def document(body, settings=None, head=VARS):
    return merged([read(SourceText("job.yaml", head + body))], None, settings or {})


def value(written, settings=None, head=VARS):
    node = document(f"a: {written}\n", settings, head).root.get("a")
    return node.value, node.text


def faults(body, head=VARS):
    with pytest.raises(InvalidInput) as rejected:
        document(body, head=head)
    return [
        (fault.code, fault.span.line, fault.span.column, fault.span.end_column) for fault in rejected.value.diagnostics
    ]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("${{ vars.rate }}", (0.001, "1e-3")),
        ("'${{ vars.rate }}'", (0.001, "1e-3")),
        ('"${{vars.rate}}"', (0.001, "1e-3")),
        ("${{ vars.on }}", (True, "true")),
        ("${{ vars.text }}", ("5", "5")),
        ("x${{ vars.rate }}", ("x1e-3", "x1e-3")),
        ("${{ vars.rate }} ", (0.001, "1e-3")),
        ("'${{ vars.rate }} '", ("1e-3 ", "1e-3 ")),
        ("${{ vars.text }}${{ vars.text }}", ("55", "55")),
        ("s3://b/${{ vars.size }}/${{ vars.on }}/", ("s3://b/7b/true/", "s3://b/7b/true/")),
    ],
)
def test_reference_alone_keeps_its_type(written, expected):
    assert value(written) == expected


def test_references_are_replaced_in_nested_values():
    body = "a: [x, {b: '${{ vars.size }}'}]\nc: |\n  ${{ vars.size }}\n  y\ndistribution: ${{ vars.launcher }}\n"
    data = to_data(document(body, head="vars: {size: {default: 7b}, launcher: {default: torchrun}}\n").root)
    assert data == {"a": ["x", {"b": "7b"}], "c": "7b\ny\n", "distribution": {"torchrun": {}}}


def test_replaced_value_keeps_the_position_of_its_use():
    assert document("a:\n  b: ${{ vars.size }}\n").span_of_value(("a", "b")).line == 3


@pytest.mark.parametrize(
    ("name", "setting", "written", "expected"),
    [
        ("size", "13b", "${{ vars.size }}", ("13b", "13b")),
        ("rate", "5", "${{ vars.rate }}", (5, "5")),
        ("on", "false", "${{ vars.on }}", (False, "false")),
        ("text", "012345678901", "${{ vars.text }}", ("012345678901", "012345678901")),
        ("text", "7", "${{ vars.text }}", ("7", "7")),
        ("text", "'7'", "${{ vars.text }}", ("7", "7")),
        ("text", "a: b # c", "${{ vars.text }}", ("a: b # c", "a: b # c")),
        ("free", "7", "${{ vars.free }}", (7, "7")),
        ("free", '"7"', "${{ vars.free }}", ("7", "7")),
        ("free", "no", "${{ vars.free }}", ("no", "no")),
    ],
)
def test_setting_is_read_as_a_yaml_scalar(name, setting, written, expected):
    assert value(written, {name: setting}) == expected


@pytest.mark.parametrize(
    ("name", "setting", "words"),
    [
        ("siz", "7b", "did you mean `size`"),
        ("zzz", "7b", "it has `size`, `rate`"),
        ("size", "8b", "is one of `7b`, `13b`"),
        ("rate", "fast", "is a number, not text"),
        ("on", "1", "is true or false, not a number"),
        ("free", "[1, 2]", "one YAML scalar"),
        ("free", "'x", "one YAML scalar"),
        ("free", "x\0", "one YAML scalar"),
        ("text", "${{ vars.size }}", "made of other variables"),
    ],
)
def test_unfit_setting_is_reported(name, setting, words):
    with pytest.raises(OptionError) as error:
        document("a: 1\n", {name: setting})
    assert words in str(error.value)


def test_null_removes_the_key():
    body = "spot: ${{ vars.free }}\nx: [1, '${{ vars.free }}']\n"
    assert to_data(document(body, {"free": "null"}).root) == {"x": [1, None]}


def test_overlay_can_change_a_variable():
    text = VARS + "a: ${{ vars.size }}\noverlays: {big: {vars: {size: {default: 13b}}}}\n"
    assert to_data(merged([read(SourceText("job.yaml", text))], "big").root) == {"a": "13b"}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("a: ${{ vars.sise }}\n", [("SM125", 2, 4, 20)]),
        ("a: x ${{ vars.sise }} ${{ vars.sise }}\n", [("SM125", 2, 6, 22)]),
        ("a: |\n  x\n  ${{ vars.none }}\n", [("SM125", 4, 3, 19)]),
        ('a: "\\x24{{ vars.none }}"\n', [("SM125", 2, 4, 25)]),
        ("a: ${{ vars.free }}\n", [("SM126", 2, 4, 20)]),
        ("a: ${{ env.HOME }}\n", [("SM127", 2, 4, 19)]),
        ("a: ${{ vars.a b }}\n", [("SM127", 2, 4, 19)]),
        ("a: ${{ }}\n", [("SM127", 2, 4, 10)]),
        ("a: x ${{ vars.size\n", [("SM127", 2, 6, 9)]),
        ("'x-${{ vars.size }}': 1\n", [("SM127", 2, 2, 20)]),
        ("a: [&x '${{ vars.none }}', *x]\n", [("SM125", 2, 9, 25)]),
    ],
)
def test_irreplaceable_reference_is_reported(body, expected):
    assert faults(body) == expected


@pytest.mark.parametrize(
    ("head", "columns"),
    [
        ("vars: 5\n", [7]),
        ("vars: {size: 7b}\n", [14]),
        ("vars: {a b: {}}\n", [8]),
        ("vars: {a: {default: [1]}}\n", [21]),
        ("vars: {a: {enum: 5}}\n", [18]),
        ("vars: {a: {enum: []}}\n", [18]),
        ("vars: {a: {enum: [[1], null, 2]}}\n", [19, 24]),
        ("vars: {a: {default: 1, enum: ['1', 2]}}\n", [21]),
        ("vars: {a: {defualt: 1, description: 5}}\n", [12, 37]),
        ("vars: {a: {default: 'x ${{ vars.b }}'}}\n", [21]),
        ("vars: {a: {enum: [[1], '${{ vars.b }}']}}\n", [19, 24]),
    ],
)
def test_malformed_declarations_are_reported(head, columns):
    assert [fault[:3] for fault in faults("x: 1\n", head)] == [("SM123", 1, column) for column in columns]


def test_expansion_of_large_variables_is_limited():
    body = f"a: '{'${{ vars.big }}' * 1000}'\n"
    assert [fault[0] for fault in faults(body, f"vars: {{big: {{default: {'x' * 10_000}}}}}\n")] == ["SM104"]


def test_number_of_unknown_variables_is_limited():
    assert len(faults("a:\n" + "".join(f"- ${{{{ vars.no{i} }}}}\n" for i in range(2_000)))) == 100
