"""Texts that look like YAML and mostly are not, for tests that must survive anything."""

from __future__ import annotations

from hypothesis import strategies as st

PIECES = (
    "a", "b", "key", "smspec", "v1", "name", "vars", "extends", "overlays", "default", "enum", "api", "channels", "1", "0x1F",
    "1e-3", "true", "null", "~", ".inf", "é", "😀", "\u00a0", ":", ": ", "- ", "-", "? ", ",", "[", "]", "{", "}", "#", " #",
    "&x ", "&y ", "*x", "*y", "!t ", "! ", "!!str ", "<<: ", "<<", "|", ">", "|-", ">+2", "'", '"', "\\", "\\n", "\\x4", "\\ud800",
    "\\U0010ffff", "\\UFFFFFFFF", "%", "%YAML 1.1", "---", "...", "@", "`", "\n", "\n", "\n", "\n  ", "\n    ", "\n- ", "\t", " ", "  ",
    "\r\n", "\r", "\0", "\x07", "\x85", "\u2028", "\ufeff", "\ud800", "${{", "}}", "${{ vars.a }}", "${{ vars.key }}", "=", "$",
)  # fmt: skip

texts = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=40).map("".join),
    st.text(max_size=60),
    st.text(st.sampled_from("ab:-?,[]{}#&*!|>'\"%@` \n\t<0."), max_size=60),
)
