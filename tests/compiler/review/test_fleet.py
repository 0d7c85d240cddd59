"""Many jobs compared at once: equal changes are one group, and their effects add up."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from smspec.review.change_groups import ceiling_total, change_groups, is_ceiling, shared_changes
from smspec.review.comparison import Comparison, State, comparison, reviewed
from smspec.review.text import MOST_APART, named, summary_rows, text
from smspec.service.job_costs import PriceBook
from support.review.job_reviews import version

SMALL = {"instance_type": "ml.c5.xlarge", "count": 1, "volume": "1GB"}
LARGE = {**SMALL, "count": 4}
PREFIX = "s3://example-checkpoints/{}/"


def state(name, side):
    return None if side is None else State(file=f"{name}.yaml", place=name, versions={None: side}, faults={})


def review(name, old=None, new=None, prices=None):
    return reviewed(state(name, old), state(name, new), prices or PriceBook())


def job(name, **keys):
    return version(name=name, **keys)


def fleet(*edits):
    """Return the reviews of jobs, each edited from a plain one."""
    return [review(f"job-{n}", job(f"job-{n}"), job(f"job-{n}", **edit)) for n, edit in enumerate(edits)]


def sizes(groups):
    return [(len(group.jobs), sorted({change.kind for change in group.changes})) for group in groups]


def test_change_of_all_jobs_is_one_group():
    groups = change_groups(fleet(*[{"hyperparameters": {"lr": 1}}] * 30))
    assert sizes(groups) == [(30, ["hyperparameters"])]
    assert [(effect.kind, effect.jobs) for effect in groups[0].effects] == [("job", 30)]


def test_job_with_two_changes_is_in_both_groups():
    shared, own = {"hyperparameters": {"lr": 1}}, {"environment": {"A": "b"}}
    groups = change_groups(fleet(shared, shared, {**shared, **own}))
    assert sizes(groups) == [(3, ["hyperparameters"]), (1, ["environment"])]
    assert [sum(effect.jobs for effect in group.effects) for group in groups] == [3, 0]


def test_different_values_are_different_groups():
    assert len(change_groups(fleet({"hyperparameters": {"lr": 1}}, {"hyperparameters": {"lr": 2}}))) == 2


EDITS = st.fixed_dictionaries(
    {},
    optional={
        "hyperparameters": st.sampled_from([{"lr": 1}, {"lr": 2}]),
        "environment": st.sampled_from([{"A": "1"}, {"B": "2"}]),
        "hosts": st.sampled_from([SMALL, LARGE]),
        "role": st.just("arn:aws:iam::111122223333:role/Other"),
    },
)


@given(st.lists(EDITS, min_size=1, max_size=8))
def test_every_change_is_in_one_group(edits):
    """Law: no change of a job is lost, none is repeated, and the ceilings of groups add up to that of the fleet."""
    reviews = [each for each in fleet(*edits) if each is not None]
    groups = change_groups(reviews)
    for each in reviews:
        of_job = [group for group in groups if each in group.jobs]
        grouped = [(change.kind, change.path, change.what) for group in of_job for change in group.changes]
        written = [
            (c.kind, c.path, c.what) for c in each.changes if not is_ceiling(c) and c.kind not in ("job", "resume")
        ]
        assert sorted(grouped) == sorted(written)
    effects = [effect for group in groups for effect in group.effects]
    assert sum(effect.jobs for effect in effects if effect.kind == "job") == len(reviews)
    ceilings = [group.ceiling for group in groups if group.ceiling is not None]
    assert sum(total.changed for total in ceilings) == ceiling_total(reviews).changed


def test_ceilings_add_up_in_money():
    book = PriceBook(own={"ml.c5.xlarge": Fraction(1, 2)})
    reviews = [review(f"j{n}", job(f"j{n}", hosts=SMALL), job(f"j{n}", hosts=LARGE), book) for n in range(5)]
    total = ceiling_total([*reviews, review("new", None, job("new", hosts=SMALL), book)])
    assert (total.rise, total.words) == ("+320 %", "120 → 504 instance hours, $60.00 → $252.00")


def test_ceiling_without_a_price_is_not_free():
    book = PriceBook(own={"ml.c5.xlarge": Fraction(1, 2)})
    other = {**LARGE, "instance_type": "ml.m5.xlarge"}
    pairs = [(SMALL, LARGE), (SMALL, other)]
    reviews = [review(f"j{n}", job(f"j{n}", hosts=a), job(f"j{n}", hosts=b), book) for n, (a, b) in enumerate(pairs)]
    expected = "48 → 192 instance hours, $12.00 → $48.00 without 1 of 2 jobs, which have no price"
    assert ceiling_total(reviews).words == expected


def test_summary_counts_starts_of_training():
    kept = {"checkpoints": PREFIX.format("a")}
    pairs = [
        ({}, {"hyperparameters": {"lr": 1}}),
        (kept, {**kept, "hyperparameters": {"lr": 1}}),
        (kept, {**kept, "hosts": LARGE}),
        (kept, {"checkpoints": PREFIX.format("b")}),
    ]
    reviews = [review(f"j{n}", job(f"j{n}", **old), job(f"j{n}", **new)) for n, (old, new) in enumerate(pairs)]
    rows = dict(summary_rows(Comparison(reviews=tuple(reviews), equal=("x",))))
    assert rows["jobs"] == "4 changed, 1 equal"
    assert rows["training"] == (
        "1 starting from scratch (`j3`), 1 resuming old checkpoints with changes (`j1`), "
        "1 resuming their checkpoints (`j2`), 1 starting at zero (`j0`)"
    )
    assert rows["images"] == "none is rebuilt"


def test_summary_counts_rebuilt_images_and_new_jobs():
    image = {"base": "python:3.12-slim", "env": {"A": "b"}}
    reviews = [*fleet({"image": image}, {"image": image}), review("new", None, job("new")), review("gone", job("gone"))]
    rows = dict(summary_rows(Comparison(reviews=tuple(reviews))))
    assert rows["jobs"] == "2 changed, 1 new, 1 removed"
    assert rows["images"].startswith("2 rebuilt (")
    assert rows["access"].startswith("1 job: changes security")


def test_few_jobs_are_shown_apart():
    reviews = fleet(*[{"hyperparameters": {"lr": 1}}] * (MOST_APART + 1))
    assert text(Comparison(reviews=tuple(reviews[:MOST_APART]))).startswith("job-0: changes hyperparameters (`lr`)\n")
    assert text(Comparison(reviews=tuple(reviews))).startswith(f"jobs {' ' * 9}{MOST_APART + 1} changed\n")


def test_equal_changes_have_the_same_number():
    reviews = fleet({"hyperparameters": {"lr": 1}}, {"hyperparameters": {"lr": 1}, "environment": {"A": "b"}})
    assert sorted((key[0], number) for key, number in shared_changes(reviews).items()) == [
        ("hyperparameters", 1),
        ("job", 2),
    ]


def test_nothing_changed_has_no_groups():
    assert comparison([(state("a", job("a")), state("a", job("a")), PriceBook())]).reviews == ()
    assert change_groups([]) == ()


@given(st.lists(st.text(alphabet="ab", min_size=1, max_size=12), min_size=1, max_size=60))
def test_named_jobs_are_counted(names):
    listed, _, more = named(names).partition(", and ")
    assert len(listed.split(", ")) + int(more.removesuffix(" more") or 0) == len(names)
    assert len(named(names)) <= 76 or not more or len(listed.split(", ")) == 3


def test_values_of_digits_are_not_digests_of_files():
    """The number of an account, or a commit that a build fetches, is what a reviewer compares."""
    for key in ("environment", "hyperparameters"):
        edits = [{key: {"A": value}} for value in ["222233334444"] * 4 + ["999999999999"]]
        groups = change_groups(fleet(*edits))
        assert sizes(groups) == [(4, [key]), (1, [key])]
        shown = text(Comparison(reviews=tuple(fleet(*edits))))
        assert "222233334444" in shown and "999999999999" in shown
