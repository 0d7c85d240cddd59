"""Bases, spec, overlay, and variables become one spec."""

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings

from smspec.diagnostics import InvalidInput
from smspec.source import Mapping, SourceText, to_data
from smspec.spec.layers import extends_of, is_base, merged, overlay_names
from smspec.spec.layers.variables import OptionError
from smspec.spec.yaml import read
from support.examples import at_most
from support.spec.yaml_texts import texts


def layer(text, name="job.yaml"):
    return read(SourceText(name, text))


def spec(*bodies, overlay=None, **settings):
    """Return the data of a spec whose files, bases first, have these bodies."""
    layers = [layer("smspec: v1\n" + body, f"f{number}.yaml") for number, body in enumerate(bodies)]
    data = to_data(merged(layers, overlay, settings).root)
    del data["smspec"]
    return data


def faults(*bodies, overlay=None, **settings):
    with pytest.raises(InvalidInput) as rejected:
        spec(*bodies, overlay=overlay, **settings)
    return [(fault.code, fault.span.file, fault.span.line, fault.span.column) for fault in rejected.value.diagnostics]


def test_later_layers_win_and_null_removes():
    base = "hosts: {count: 1, volume: 5GB}\nspot: {max_wait: 8h}\nmetrics: [{name: a}]\ntags: {a: 1, b: 2}\n"
    own = "hosts: {count: 2}\nspot: null\nmetrics: [{name: b}]\ntags: {a: null, c: 3}\nretries: null\n"
    assert spec(base, own) == {
        "hosts": {"count": 2, "volume": "5GB"},
        "metrics": [{"name": "b"}],
        "tags": {"b": 2, "c": 3},
    }


def test_null_in_a_single_file_removes_the_key():
    assert spec("spot:\nhosts: {count: 1, keep_alive: null}\n") == {"hosts": {"count": 1}}


def test_overlay_is_applied_last_with_its_nulls():
    own = "spot: {max_wait: 8h}\nhosts: {count: 4}\noverlays: {dev: {hosts: {count: 1}, spot: null}, big: {}}\n"
    assert spec(own, overlay="dev") == {"hosts": {"count": 1}}
    assert spec(own) == spec(own, overlay="big") == {"hosts": {"count": 4}, "spot": {"max_wait": "8h"}}


def test_overlays_are_applied_in_their_order():
    base = "tags: {a: 1}\noverlays: {dev: {tags: {a: null, b: 2, c: 3}}, gone: {}}\n"
    own = "tags: {d: 4}\noverlays: {dev: {tags: {b: 5}}, gone: null, new: {}}\n"
    assert spec(base, own, overlay="dev") == {"tags": {"d": 4, "b": 5, "c": 3}}
    assert overlay_names(layer(base), layer(own)) == ("dev", "new")
    assert overlay_names(layer("a: 1")) == ()


def test_short_forms_merge_with_long_ones():
    base = "source: src\noutput: s3://a\nchannels: {x: s3://x}\ncheckpoints: s3://c\ndistribution: torchrun\n"
    own = (
        "source: {ignore: [t]}\noutput: {kms_key: k}\nchannels: {x: {input_mode: Pipe}}\ncheckpoints: {local: /c}\n"
        "distribution: {torchrun: {port: 1}}\n"
    )
    assert spec(base, own) == {
        "source": {"dir": "src", "ignore": ["t"]},
        "output": {"s3": "s3://a", "kms_key": "k"},
        "channels": {"x": {"s3": "s3://x", "input_mode": "Pipe"}},
        "checkpoints": {"s3": "s3://c", "local": "/c"},
        "distribution": {"torchrun": {"port": 1}},
    }


@pytest.mark.parametrize(
    ("base", "own", "result"),
    [
        ("image: {base: b, run: [x]}", "image: uri", {"image": "uri"}),
        ("image: uri", "image: {base: b}", {"image": {"base": "b"}}),
        ("image: {base: b}", "image: {run: [x]}", {"image": {"base": "b", "run": ["x"]}}),
        (
            "entry_point: {script: a, args: [x]}",
            "entry_point: {script: b}",
            {"entry_point": {"script": "b", "args": ["x"]}},
        ),
        ("entry_point: {script: a, args: [x]}", "entry_point: b", {"entry_point": {"script": "b", "args": ["x"]}}),
        (
            "entry_point: {script: a, args: [x]}",
            "entry_point: {args: [y]}",
            {"entry_point": {"script": "a", "args": ["y"]}},
        ),
        ("entry_point: {script: a, args: [x]}", "entry_point: {command: [c]}", {"entry_point": {"command": ["c"]}}),
        ("entry_point: {command: [c]}", "entry_point: a", {"entry_point": {"script": "a"}}),
        ("entry_point: {pipe_loop: a, epochs: 2}", "entry_point: {module: b}", {"entry_point": {"module": "b"}}),
        (
            "entry_point: {script: a, args: [x]}",
            "entry_point: {script: null, module: b}",
            {"entry_point": {"module": "b"}},
        ),
        (
            "distribution: torchrun",
            "distribution: {mpi: {options: [x]}}",
            {"distribution": {"mpi": {"options": ["x"]}}},
        ),
        ("distribution: {mpi: {options: [x]}}", "distribution: mpi", {"distribution": {"mpi": {"options": ["x"]}}}),
        ("distribution: {mpi: {options: [x]}}", "distribution: torchrun", {"distribution": {"torchrun": {}}}),
        ("distribution: mpi", "distribution: null", {}),
    ],
)
def test_value_of_another_kind_replaces_the_whole(base, own, result):
    assert spec(base, own) == result
    assert spec(f"{base}\noverlays: {{o: {{{own}}}}}", overlay="o") == result


def test_nulls_below_api_are_kept():
    base = "api: {A: {x: 1}, B: 1}\nchannels: {c: {s3: s3://x, api: {S3DataSource: null}}}\n"
    own = "api: {A: {y: null}, B: null}\nchannels: {c: {api: {E: 1}}}\n"
    assert spec(base, own) == {
        "api": {"A": {"x": 1, "y": None}, "B": None},
        "channels": {"c": {"s3": "s3://x", "api": {"S3DataSource": None, "E": 1}}},
    }
    assert spec(base, "api: null\nchannels: {c: {api: null}}\n") == {"channels": {"c": {"s3": "s3://x"}}}


def test_merged_spec_contains_no_layer_keys():
    assert spec("extends: [x]\nvars: {}\noverlays: {}\nname: a\n") == {"name": "a"}


def test_keys_of_the_spec_precede_those_of_bases():
    assert list(spec("a: 1\nb: 2\nc: 3\n", "d: 4\nb: 5\n")) == ["d", "b", "a", "c"]


def test_every_part_points_at_its_file():
    base = layer("smspec: v1\nhosts:\n  count: 1\n  volume: 5GB\n", "org/base.yaml")
    own = layer("smspec: v1\nname: x\nhosts:\n  count: 2\noverlays:\n  dev:\n    hosts: {volume: 9GB}\n", "job.yaml")
    document = merged([base, own], "dev")
    places = [document.span_of_value(path) for path in (("hosts", "count"), ("hosts", "volume"), ("smspec",), ())]
    assert [(span.file, span.line) for span in places] == [
        ("job.yaml", 4),
        ("job.yaml", 7),
        ("job.yaml", 1),
        ("job.yaml", 1),
    ]
    assert [text.name for text in document.texts] == ["job.yaml", "org/base.yaml"]
    assert merged([base, own]).span_of_value(("hosts", "volume")).file == "org/base.yaml"


def test_paths_are_relative_to_their_file():
    base = layer(
        "smspec: v1\nsource: src/\nimage: {python_requirements: r.txt}\nchannels: {a: {local: d}, b: {local: /abs}}\n",
        "org/base.yaml",
    )
    own = layer("smspec: v1\nchannels: {c: {local: mine/}}\n", "specs/x/job.yaml")
    assert to_data(merged([base, own]).root) == {
        "smspec": "v1",
        "source": {"dir": "../../org/src/"},
        "image": {"python_requirements": "../../org/r.txt"},
        "channels": {"a": {"local": "../../org/d"}, "b": {"local": "/abs"}, "c": {"local": "mine/"}},
    }


def test_extends_are_listed_in_order():
    document = layer("extends: [../a.yaml, 'b c.yaml']\n")
    assert [(path, span.column) for path, span in extends_of(document)] == [("../a.yaml", 11), ("b c.yaml", 22)]
    assert extends_of(layer("extends:\n")) == extends_of(layer("a: 1")) == ()
    assert is_base(layer("smspec: v1"))
    assert not is_base(layer("name: x"))


@pytest.mark.parametrize("text", ["a.yaml", "{a: b}", "[5]", "[[a]]", "['']", '["a\\0"]', "['${{ vars.x }}']", "5"])
def test_malformed_extends_is_rejected(text):
    with pytest.raises(InvalidInput) as rejected:
        extends_of(layer(f"extends: {text}\n"))
    assert [fault.code for fault in rejected.value.diagnostics] == ["SM121"]


def test_every_file_needs_the_same_version():
    with pytest.raises(InvalidInput) as rejected:
        merged([layer("a: 1", "base.yaml"), layer("smspec: v2\n")])
    assert [(fault.code, fault.span.file) for fault in rejected.value.diagnostics] == [
        ("SM122", "job.yaml"),
        ("SM122", "base.yaml"),
    ]


@pytest.mark.parametrize(
    ("overlays", "column"),
    [("5", 11), ("{a: 5}", 15), ("{a: []}", 15), ("{a: {extends: [x]}}", 16), ("{a: {overlays: {}}}", 16)],
)
def test_malformed_overlays_are_rejected(overlays, column):
    assert faults(f"overlays: {overlays}\n") == [("SM124", "f0.yaml", 2, column)]


def test_faults_of_all_kinds_are_reported_together():
    body = "overlays: 5\nvars: {a: 5, b: {default: 1}}\nx: ${{ vars.c }}\ny: ${{ vars.a }}\n'${{ vars.b }}': 1\n"
    assert [fault[0] for fault in faults(body)] == ["SM124", "SM123", "SM125", "SM127"]


def test_unknown_overlay_is_reported():
    with pytest.raises(OptionError, match="no overlay `prd`: did you mean `prod`"):
        spec("overlays: {prod: {}}\n", overlay="prd")
    with pytest.raises(OptionError, match="it has none"):
        spec("a: 1\n", overlay="dev")


@hypothesis_settings(max_examples=at_most(200))
@given(texts, texts)
def test_any_two_texts_merge_or_are_rejected(base, own):
    layers = []
    for name, text in (("b/base.yaml", base), ("job.yaml", own)):
        for candidate in (f"smspec: v1\nname: x\n{text}", "smspec: v1\nhosts: {count: 1}\n"):
            try:
                layers.append(layer(candidate, name))
                break
            except InvalidInput:
                continue
    try:
        assert isinstance(merged(layers).root, Mapping)
    except InvalidInput as rejected:
        assert all(fault.span.file in ("b/base.yaml", "job.yaml") for fault in rejected.diagnostics)


LARGE = "tags: {" + ", ".join(f"k{number}: v" for number in range(100)) + "}\n"
LONG = f"description: {'a' * 20_000}\n"


@pytest.mark.parametrize("job", [LARGE, LONG])
def test_number_of_overlays_is_limited(job):
    few, many = (f"overlays: {{{', '.join(f'o{number}: {{}}' for number in range(n))}}}\n" for n in (220, 260))
    assert spec(job + few, overlay="o9") == spec(job)
    for place, bodies in enumerate([(many, job), (job, many), (job, few, many)]):
        told = faults(*bodies)
        assert told == faults(*bodies, overlay="o9") == [("SM104", f"f{place}.yaml", 2, 1)]
