"""A repository of others may hold a module with the name of one of the standard library: no command imports it."""

import subprocess
import sys
from pathlib import Path

import pytest

from support.smspec_command import environment

SCRIPT = Path(sys.executable).with_name("smspec")
WAYS = {
    "smspec": [str(SCRIPT)],
    "python -I -m smspec": [sys.executable, "-I", "-m", "smspec"],
    "the commit hook": [sys.executable, "-I", "-m", "smspec.cli.commit_hook"],
}


@pytest.mark.parametrize("way", WAYS)
def test_no_module_of_the_current_directory_is_imported(tmp_path, way):
    if not SCRIPT.exists():
        pytest.skip("smspec is not installed as a script in this environment")
    for name in {*sys.stdlib_module_names, "yaml", "jinja2", "re2", "smspec", "sitecustomize", "usercustomize"}:
        (tmp_path / f"{name}.py").write_text(
            "import sys\nsys.stderr.write(f'imported {__name__}')\nraise SystemExit(9)\n"
        )
    (tmp_path / "job.yaml").write_text("smspec: v1\nname: 1\n")
    words = [] if way == "the commit hook" else ["validate", "job.yaml"]
    run = subprocess.run(
        [*WAYS[way], *words], cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False
    )
    assert run.returncode in (0, 1) and "imported" not in run.stderr
