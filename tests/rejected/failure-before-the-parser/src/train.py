import argparse

import presets

parser = argparse.ArgumentParser()
parser.add_argument("--preset", default=presets.first())
args = parser.parse_args()
