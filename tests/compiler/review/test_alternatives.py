"""Changes of alternatives are reported at the alternative, and the cost ceiling is that of the dearest."""

from smspec.review.job_review import compared
from smspec.service.job_costs import PriceBook
from support.review.job_reviews import one, version

FIRST = {"instance_type": "ml.m5.large", "count": 1, "volume": "50GB"}
SECOND = {"instance_type": "ml.m5.xlarge", "count": 2, "volume": "50GB"}


def changes(old, new):
    return compared(*(version(hosts={"any_of": side}) for side in (old, new)), PriceBook())


def test_change_of_a_later_alternative_names_it():
    found = changes([FIRST, SECOND], [FIRST, {**SECOND, "count": 3}])
    change = one(found, "hosts")
    assert (change.path, change.what) == (("hosts", "any_of", 1, "count"), "count of alternative 2")
    assert (change.old, change.new) == (2, 3)
    assert one(found, "cost").new["instance_hours"] == 3 * 24


def test_shared_change_is_reported_once():
    sides = [version(hosts={"any_of": [FIRST, SECOND], "keep_alive": time}) for time in ("30m", "40m")]
    assert [change.what for change in compared(*sides, PriceBook()) if change.kind == "hosts"] == ["keep-alive"]


def test_added_and_removed_alternatives_are_reported():
    added, removed = one(changes([FIRST], [FIRST, SECOND]), "hosts"), one(changes([FIRST, SECOND], [FIRST]), "hosts")
    assert (added.what, added.new) == ("alternative 2 is new", "2 × ml.m5.xlarge")
    assert (removed.what, removed.old) == ("alternative 2 is gone", "2 × ml.m5.xlarge")


def test_change_of_the_order_is_a_change():
    assert {"hosts", "job"} <= {change.kind for change in changes([FIRST, SECOND], [SECOND, FIRST])}
