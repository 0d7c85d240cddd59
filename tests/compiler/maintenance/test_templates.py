"""The templates as functions: made of the templates, and the same text as Jinja's for any names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maintenance import templates
from smspec.render.filled_templates import _TEMPLATES, filled

ENVIRONMENT = templates.environment()

texts = st.text(max_size=12)
lists = st.lists(texts, max_size=3)
pairs = st.dictionaries(st.from_regex(r"[A-Za-z_]{1,9}", fullmatch=True), texts, max_size=3)
VALUES = {
    **dict.fromkeys(("base", "platform", "build_user", "job_user", "apt_options", "boto3", "program"), texts),
    **dict.fromkeys(("launcher_story", "source_story"), texts),
    **dict.fromkeys(("build_args", "env_prepend", "env_before_packages", "env_after_packages", "labels"), pairs),
    **dict.fromkeys(("pre_install", "system_packages", "python_packages", "run", "secret_options"), lists),
    **dict.fromkeys(("secret_mounts", "secret_settings", "entrypoint", "command", "arguments"), lists),
    **dict.fromkeys(("needs_ssh", "has_requirements", "holds_source"), st.booleans()),
    "epoch": st.integers(),
    "pip_installs": st.lists(lists.map(tuple), max_size=3),
}


def test_functions_are_those_of_the_templates():
    """Else run `make templates`."""
    assert templates.TARGET.read_text("utf-8") == templates.formatted(templates.translated())


@pytest.mark.parametrize("template", sorted(_TEMPLATES))
@given(names=st.fixed_dictionaries(VALUES))
def test_function_and_template_give_the_same_text(template, names):
    assert filled(template, **names) == ENVIRONMENT.get_template(template).render(names)


@pytest.mark.parametrize("template", sorted(_TEMPLATES))
def test_missing_name_is_an_error(template):
    with pytest.raises(KeyError):
        filled(template)


@pytest.mark.parametrize(
    "text",
    [
        "{% macro a() %}{% endmacro %}",
        "{% if a %}b{% else %}c{% endif %}",
        "{% if a %}b{% elif c %}d{% endif %}",
        "{% for a in b %}{{ a }}{% else %}c{% endfor %}",
        "{% for a in b if a %}{{ a }}{% endfor %}",
        "{% set a = 1 %}",
        "{% include 'b.j2' %}",
        "{{ a + 1 }}",
        "{{ a[0] }}",
        "{{ a.b }}",
        "{{ loop.index }}",
        "{{ a | upper }}",
        "{{ a | join(d='') }}",
        "{{ a.b(1) }}",
    ],
)
def test_other_constructs_are_refused(tmp_path, text):
    (tmp_path / "a.j2").write_text(text)
    with pytest.raises(templates.UntranslatableError, match="line 1 of a template"):
        templates.translated(tmp_path)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("{{ a }}{{ '{' }}\\{% if b %}'\"{{ b }}{c}\n{% endif %}\n", {"a": "1", "b": 2}),
        (
            "{% for x in a %}{% for y in x %}{{ y }}{{ '' if loop.last else ', ' }}{% endfor %};{% endfor %}",
            {"a": ["bc"]},
        ),
        ("{% for x in a %}{{ '' if loop.first else ' ' }}{{ x | docstring }}{% endfor %}", {"a": ["b", "ö", '"']}),
        ("{{ a | join('\\n') }}{{ 'b' if not a }}{{ 'c' if a and not d or e }}", {"a": ["f"], "d": 0, "e": 0}),
    ],
    ids=["braces and quotes", "loops", "first of a loop", "conditions"],
)
def test_translation_of_other_templates(tmp_path, text, names):
    (tmp_path / "a.j2").write_text(text)
    scope: dict[str, object] = {}
    exec(templates.translated(tmp_path), scope)
    assert scope["filled"]("a.j2", **names) == templates.environment(tmp_path).get_template("a.j2").render(names)
