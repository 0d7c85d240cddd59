"""Compare many specs: each is equal, different, or, as a whole or in part, not compared."""

from __future__ import annotations

from collections.abc import Iterable

from smspec.review.job_review import JobReview
from smspec.review.missing_comparisons import State, Uncompared, uncompared
from smspec.review.reviewing import reviewed
from smspec.service.job_costs import PriceBook
from smspec.source.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """``reviews`` of what differs, ``equal`` files; a spec in ``uncompared`` may also differ with an overlay.

    ``settings``: the files that decide how jobs are judged, as far as they differ. They come first.
    """

    settings: tuple[JobReview, ...] = ()
    reviews: tuple[JobReview, ...] = ()
    equal: tuple[str, ...] = ()
    uncompared: tuple[Uncompared, ...] = ()

    def summary(self) -> str:
        """Return a one-line summary of how many jobs are equal, different, and not compared."""
        files = {review.file for review in self.reviews}
        unknown = sum(job.file not in files for job in self.uncompared)
        in_part = unknown < len(self.uncompared)
        total = len(self.reviews) + len(self.equal) + unknown
        counts = [
            f"{number} {what}"
            for number, what in (
                (len(self.reviews), "different"),
                (len(self.equal), "equal"),
                (len(self.uncompared), "not compared in full" if in_part else "not compared"),
            )
            if number
        ]
        return f"{total} {'job' if total == 1 else 'jobs'}: {', '.join(counts)}"


def comparison(
    pairs: Iterable[tuple[State | None, State | None, PriceBook]], unchanged: Iterable[str] = ()
) -> Comparison:
    """Compare the states of specs, each with its prices, new ones last; ``unchanged`` files have the same inputs."""
    reviews: list[JobReview] = []
    equal = list(unchanged)
    unknown: list[Uncompared] = []
    for old, new, prices in pairs:
        review, rest = reviewed(old, new, prices), uncompared(old, new)
        reviews += [review] if review is not None else []
        unknown += [rest] if rest is not None else []
        if review is None and rest is None:
            equal += [state.file for state in (new, old) if state is not None][:1]
    reviews.sort(key=lambda review: review.status == "added")
    return Comparison(reviews=tuple(reviews), equal=tuple(sorted(equal)), uncompared=tuple(unknown))
