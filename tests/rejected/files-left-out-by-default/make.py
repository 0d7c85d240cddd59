"""What people have in a source, and git ignores."""

import os

os.makedirs("src/wandb")
os.makedirs("src/env")
for name in (".env", ".env.example", "wandb/run.log", "env/pyvenv.cfg", ".DS_Store", "train.pyc"):
    open(f"src/{name}", "w").close()
