import subprocess

subprocess.run(["torchrun", "--nproc_per_node=2", "work.py"], check=True)
