"""A spec that a stranger's pull request could add."""

import os

os.symlink("../../../../outside/other.yaml", "other.yaml")
