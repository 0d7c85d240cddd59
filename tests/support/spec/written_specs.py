"""Specs as authors write them: keys in any order, comments, empty lines, several styles of YAML."""

from __future__ import annotations

import json

from hypothesis import strategies as st

COMMENTS = ("# one", "#two", "# key: value", "# - item", "# ${{ vars.x }}", "# é")


@st.composite
def written_specs(draw, data):
    """Return the text of a spec with the keys and values of ``data``."""
    lines = draw(st.sampled_from([[], ["# head", ""], ["# yaml-language-server: $schema=x"], ["---"]]))
    writer = _Writer(draw, step=draw(st.sampled_from([2, 4])))
    lines = [*lines, *writer.mapping(data, 0)]
    lines += draw(st.sampled_from([[], ["# end"], ["", "# end"], ["..."]]))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    return end.join(lines) + draw(st.sampled_from(["", end]))


class _Writer:
    def __init__(self, draw, step):
        self.draw = draw
        self.step = step
        self.anchors = 0

    def mapping(self, data, column):
        lines = []
        for key in self.draw(st.permutations(list(data))):
            lines += self.above(column)
            lines += self.entry(key, data[key], column)
        return lines

    def above(self, column):
        choice = self.draw(st.integers(0, 11))
        comment = " " * column + self.draw(st.sampled_from(COMMENTS)) if choice < 5 else ""
        deeper = " " * (column + self.step) + "# deeper"
        return [[comment], [comment, ""], ["", comment], ["", comment, ""], [deeper], [""], *([[]] * 6)][choice]

    def entry(self, key, value, column):
        front = " " * column + (key if key.isidentifier() else json.dumps(key)) + ":"
        style = self.draw(st.integers(0, 5))
        if isinstance(value, dict) and value and style:
            return [front + self.side(), *self.mapping(value, column + self.step)]
        if isinstance(value, list) and value and style:
            inner = column + self.draw(st.sampled_from([0, self.step]))
            return [front + self.side(), *(line for item in value for line in self.item(item, inner))]
        if isinstance(value, str) and value and not style:
            sign = self.draw(st.sampled_from(["|-", ">-"]))
            return [f"{front} {sign}{self.side()}", " " * (column + self.step) + value, *self.draw(_EMPTY)]
        if style == 1:
            self.anchors += 1
            front += f" &a{self.anchors}"
        return [f"{front} {json.dumps(value)}{self.side()}"]

    def item(self, item, column):
        if not isinstance(item, dict) or not item:
            return [*self.above(column), f"{' ' * column}- {json.dumps(item)}{self.side()}"]
        dash = "-" + " " * self.draw(st.sampled_from([1, 3]))
        first, *rest = self.draw(st.permutations(list(item)))
        inner = column + len(dash)
        lines = self.entry(first, item[first], inner)
        lines[0] = " " * column + dash + lines[0][inner:]
        for key in rest:
            lines += [*self.above(inner), *self.entry(key, item[key], inner)]
        return [*self.above(column), *lines]

    def side(self):
        return self.draw(st.sampled_from(["", "", "  # side"]))


_EMPTY = st.sampled_from([[], [""]])
