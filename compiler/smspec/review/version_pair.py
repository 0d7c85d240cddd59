"""The two states of a job together, with helpers for the kinds of changes."""

from __future__ import annotations

from fractions import Fraction

from smspec.review.change import Change, Rise
from smspec.review.layers import Item, started
from smspec.review.members import meaning
from smspec.review.redaction import safe
from smspec.review.request_differences import Leaf, leaves
from smspec.review.version import Version
from smspec.service.job_costs import PriceBook
from smspec.source import Path
from smspec.source.frozen import dataclass
from smspec_runtime.run_plan import SETTINGS_HYPERPARAMETER


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """``leaves`` are the differences of the requests, without those about what is known of only one side."""

    old: Version
    new: Version
    leaves: tuple[Leaf, ...]
    prices: PriceBook

    def change(
        self,
        kind: str,
        path: Path,
        what: str,
        *,
        old: object = None,
        new: object = None,
        brief: str = "",
        rise: Rise | Fraction = None,
    ) -> Change:
        """Return a change at a path of the spec, with its position and without secrets."""
        file, line = self._place(path, is_gone=new is None and old is not None)
        name = str(path[-1]) if path else ""
        return Change(
            kind=kind,
            path=path,
            old=safe(name, old),
            new=safe(name, new),
            what=what,
            brief=brief,
            file=file,
            line=line,
            rise=rise,
        )

    def at_leaf(self, kind: str, leaf: Leaf, what: str, *, brief: str = "") -> Change:
        """Return the change for a difference of the requests, at the key of the spec that sets it."""
        path = self.spec_path(leaf)
        return self.change(kind, path, what, old=leaf.old, new=leaf.new, brief=brief)

    def leaves_of(self, kind: str) -> list[Leaf]:
        """Return the differences of the requests that are of a kind, without settings of the smspec runtime."""
        return [
            leaf
            for leaf in self.leaves
            if kind in meaning(leaf.at).kinds and not str(leaf.at[-1]).startswith(SETTINGS_HYPERPARAMETER)
        ]

    def settings(self, *names: str) -> list[tuple[str, object, object]]:
        """Return (name, old, new) of the changed settings of the smspec runtime with these names."""
        old, new = self.old.settings, self.new.settings
        return [(name, old.get(name), new.get(name)) for name in names if old.get(name) != new.get(name)]

    def starts(self) -> list[tuple[Item, object, object]]:
        """Return (item, old, new) of how an existing image starts the script: that is in a channel, not in a layer."""
        if self.old.run is None or self.new.run is None or self.old.layers or self.new.layers:
            return []
        was = {item.name: item.value for item in started(self.old.run)}
        return [(i, was.get(i.name), i.value) for i in started(self.new.run) if was.get(i.name) != i.value]

    def spec_path(self, leaf: Leaf) -> Path:
        """Return the key of the spec for a difference; the path in the request if no key sets it."""
        is_gone = leaf.new is None
        sides = ((self.old, leaf.old_path), (self.new, leaf.new_path))
        for side, path in sides if is_gone else reversed(sides):
            origin = side.origin(path)
            if origin:
                return origin
            if is_gone and side.writing is not None:
                break  # it is only in a request
        return leaf.old_path if is_gone else leaf.new_path

    def _place(self, path: Path, *, is_gone: bool) -> tuple[str | None, int | None]:
        sides = (self.old, self.new) if is_gone else (self.new, self.old)
        for side in sides:
            if side.writing is not None:
                span = side.writing.place(path)
                if span is not None:
                    return side.writing.name(span.file), span.line
        for side in sides:
            if side.writing is not None:
                span = side.writing.nearest(path)
                return side.writing.name(span.file), span.line
        return None, None


def paired(old: Version, new: Version, prices: PriceBook) -> Pair:
    """Return a pair of two states."""
    unknown = () if old.is_whole and new.is_whole else (("Tags",), ("SessionChainingConfig",))
    found = tuple(leaf for leaf in leaves(old.payload, new.payload) if leaf.at[:1] not in unknown)
    return Pair(old=old, new=new, leaves=found, prices=prices)
