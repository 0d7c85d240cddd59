import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--names", nargs="+")
args = parser.parse_args()
