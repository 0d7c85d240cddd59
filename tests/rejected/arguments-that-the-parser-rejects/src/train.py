import argparse

OPTIONS = {"lr": float, "epochs": int}

parser = argparse.ArgumentParser()
for name, kind in OPTIONS.items():
    parser.add_argument(f"--{name}", type=kind)
args = parser.parse_args()
