"""Make the pictures of the documentation: ``python docs/pictures.py``. Needs `chromium` and `smspec` on PATH.

They show what a run writes, so their times differ each time: make one again when the page it shows has changed.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
PICTURES = ROOT / "docs/pictures"

WIDTH, HEIGHT = 820, 690
"""Pixels: down to the curve of the metric."""


def main() -> None:
    """Run a job with a metric, and take a picture of its report."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        job = Path(temporary) / "pipe-recordio"
        shutil.copytree(ROOT / "specs/pipe-recordio", job, ignore=shutil.ignore_patterns("build", "run", "data"))
        (job / "smspec.toml").touch()
        subprocess.run([sys.executable, "make_data.py"], cwd=job, check=True)
        subprocess.run(["smspec", "run", "-q"], cwd=job, check=True)
        page = job / "run/pipe-recordio/report.html"
        subprocess.run(
            [
                "chromium",
                "--headless",
                "--no-sandbox",
                "--hide-scrollbars",
                f"--window-size={WIDTH},{HEIGHT}",
                f"--screenshot={PICTURES / 'report.png'}",
                page.as_uri(),
            ],
            check=True,
        )


if __name__ == "__main__":
    main()
