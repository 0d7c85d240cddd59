import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--sizes", nargs="+", type=int)
parser.add_argument("--rate", type=float)
parser.add_argument("--unset")
args = parser.parse_args()
