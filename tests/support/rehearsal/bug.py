"""A bug of a training program: a difference to the program that survives interruptions."""

from __future__ import annotations

from dataclasses import dataclass

from support.rehearsal.programs import BY_NAME, Program


@dataclass(frozen=True)
class Bug:
    """A difference, as lines with ``-``, ``+``, or a space in front; blank lines separate the places."""

    name: str
    program_name: str
    difference: str

    @property
    def program(self) -> Program:
        """Return the program that has no bug."""
        return BY_NAME[self.program_name]

    @property
    def source(self) -> str:
        """Return the text of the program with the bug."""
        source = self.program.source
        for place in self.difference.strip("\n").split("\n\n"):
            lines = place.split("\n")
            assert {line[:1] for line in lines} <= {"-", "+", " "}, place
            old = "".join(f"{line[1:]}\n" for line in lines if line[0] != "+")
            new = "".join(f"{line[1:]}\n" for line in lines if line[0] != "-")
            assert f"\n{source}".count(f"\n{old}") == 1, f"{self.name}: not once in {self.program_name}:\n{old}"
            source = f"\n{source}".replace(f"\n{old}", f"\n{new}")[1:]
        return source
