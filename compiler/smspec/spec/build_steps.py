"""What the commands of an image's build are, and what they see: the same for the author's keys and for a plan."""

from __future__ import annotations


class BuildSteps:
    """The fields are those of the class that extends it."""

    __slots__ = ()

    run: tuple[str, ...]
    pre_install: tuple[str, ...]
    env: dict[str, str]
    build_args: dict[str, str]

    @property
    def commands(self) -> tuple[str, ...]:
        """The author's commands, which may change anything in the image."""
        return (*self.pre_install, *self.run)

    @property
    def build_variables(self) -> dict[str, str]:
        """The variables of the commands that install packages, with values."""
        return {**self.build_args, **self.env}
