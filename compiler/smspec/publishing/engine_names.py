"""The names of the engines that build images."""

ENGINES = ("docker", "podman", "nerdctl", "finch")
"""In the order in which they are tried."""

NO_ENGINE = "none"
"""smspec makes the image itself, from the layers of the base and the generated files. Never tried, only chosen."""

BUILDERS = (*ENGINES, NO_ENGINE)
