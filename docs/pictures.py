"""Make the pictures of the documentation: ``python docs/pictures.py [NAME …]``.

Needs `chromium`, `nvim`, and `smspec` with its extra `lsp` on PATH, and pyte, which draws a terminal. The pictures show
what a run writes, so their times differ each time: make one again when the page it shows has changed.
"""

import fcntl
import html
import os
import pty
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parent.parent
PICTURES = ROOT / "docs/pictures"

FAULTY = """\
smspec: v1
name: ctr
role: arn:aws:iam::111122223333:role/SageMakerTraining
region: us-west-2
image: {base: "python:3.12-slim-bookworm"}
source: src/
entry_point: train.py
channels:
  training: {s3: s3://example-data/ctr/, local: data/}
hosts: {instance_tpye: ml.c5.xlarge, count: 2, volume: 50GB}
hyperparameters: {epochs: 5, learning_rate: 3e-3}
stopping: {max_runtime: 6h}
spot: {max_wait: 4h}
output: s3://example-models/ctr/
"""
SCRIPT = """\
import argparse
import os

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int)
parser.add_argument("--lr", type=float)
args = parser.parse_args()
print(args, os.environ["SM_CHANNEL_TRAIN"])
"""
EDITOR = """\
vim.o.number, vim.o.signcolumn, vim.o.termguicolors, vim.o.laststatus = true, "yes", true, 2
vim.cmd("colorscheme desert | hi Normal guibg=#222222 | hi SignColumn guibg=NONE | hi NonText guibg=NONE guifg=#555555")
vim.cmd("hi DiagnosticError guifg=#ff7b72 | hi DiagnosticWarn guifg=#e3b341 | hi StatusLine guifg=#333333")
vim.diagnostic.config({ virtual_text = { prefix = "■" }, severity_sort = true })
local client = vim.lsp.start_client({ name = "smspec", cmd = { "smspec", "lsp" }, root_dir = vim.loop.cwd() })
vim.api.nvim_create_autocmd("FileType", {
  pattern = "yaml",
  callback = function(event) vim.lsp.buf_attach_client(event.buf, client) end,
})
"""
COLUMNS, LINES = 132, 18


def report(directory: Path) -> None:
    """The report of a run with a metric, down to its curve."""
    job = directory / "pipe-recordio"
    shutil.copytree(ROOT / "specs/pipe-recordio", job, ignore=shutil.ignore_patterns("build", "run", "data"))
    (job / "smspec.toml").touch()
    subprocess.run([sys.executable, "make_data.py"], cwd=job, check=True)
    subprocess.run(["smspec", "run", "-q"], cwd=job, check=True)
    photograph(job / "run/pipe-recordio/report.html", "report", 820, 690)


def fleet(directory: Path) -> None:
    """The page about all jobs of a repository."""
    page = directory / "jobs.html"
    with page.open("w") as file:
        subprocess.run(["smspec", "validate", "specs", "--format", "html"], cwd=ROOT, stdout=file, check=True)
    photograph(page, "fleet", 1000, 760)


def editor(directory: Path) -> None:
    """Neovim with findings of the language server, as it draws them in a terminal."""
    import pyte

    (directory / "src").mkdir()
    (directory / "data").mkdir()
    (directory / "src/train.py").write_text(SCRIPT)
    (directory / "job.yaml").write_text(FAULTY)
    (directory / "init.lua").write_text(EDITOR)
    screen = pyte.Screen(COLUMNS, LINES)
    stream = pyte.ByteStream(screen)
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(directory)
        os.environ.update(TERM="xterm-256color", XDG_STATE_HOME=str(directory), COLORTERM="truecolor")
        os.execvp("nvim", ["nvim", "-n", "-i", "NONE", "-u", "init.lua", "job.yaml"])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    end, is_drawn = time.monotonic() + 60, False
    while time.monotonic() < end and not is_drawn:
        is_idle = not select.select([terminal], [], [], 2)[0]
        if not is_idle:
            stream.feed(os.read(terminal, 65536))
        is_drawn = is_idle and any("■" in line for line in screen.display)
    os.kill(process, 9)
    os.waitpid(process, 0)
    if not is_drawn:
        raise SystemExit("the editor shows no findings: is `smspec lsp` on PATH?")
    page = directory / "screen.html"
    page.write_text(drawn(screen), encoding="utf-8")
    photograph(page, "editor", 1075, 322)


def drawn(screen) -> str:
    """Return the page of a terminal: a span for each run of characters in the same colors."""

    def color(value: str, default: str) -> str:
        return default if value == "default" else f"#{value}" if len(value) == 6 else value

    lines = []
    for row in range(screen.lines):
        cells, column = "", 0
        while column < screen.columns:
            cell = screen.buffer[row][column]
            style, start = cell[1:], column
            while column < screen.columns and screen.buffer[row][column][1:] == style:
                column += 1
            text = "".join(screen.buffer[row][at].data for at in range(start, column))
            shades = color(cell.fg, "#ddd"), color(cell.bg, "#222")
            front, back = reversed(shades) if cell.reverse else shades
            cells += f'<span style="color:{front};background:{back}">{html.escape(text)}</span>'
        lines.append(cells)
    style = "margin:0;padding:8px;background:#222;font:13.5px/17px monospace"
    return (
        f'<!doctype html><meta charset="utf-8"><body style="margin:0"><pre style="{style}">'
        + "\n".join(lines)
        + "</pre>"
    )


def photograph(page: Path, name: str, width: int, height: int) -> None:
    """Write a picture of a page, from its top, in pixels."""
    options = ["--headless", "--no-sandbox", "--hide-scrollbars", f"--window-size={width},{height}"]
    target = f"--screenshot={PICTURES / f'{name}.png'}"
    subprocess.run(["chromium", *options, target, page.as_uri()], check=True)


MADE: dict[str, Callable[[Path], None]] = {"report": report, "fleet": fleet, "editor": editor}


def main() -> None:
    """Make the pictures that are named, or all."""
    PICTURES.mkdir(exist_ok=True)
    for name in sys.argv[1:] or MADE:
        with tempfile.TemporaryDirectory() as temporary:
            MADE[name](Path(temporary))


if __name__ == "__main__":
    main()
