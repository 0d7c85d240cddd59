"""A base that a stranger's pull request could add."""

import os

os.symlink("../../../../outside/base.yaml", "base.yaml")
