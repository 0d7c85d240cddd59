"""The names of the engines that build images."""

ENGINES = ("docker", "podman", "nerdctl", "finch")
"""In the order in which they are tried."""
