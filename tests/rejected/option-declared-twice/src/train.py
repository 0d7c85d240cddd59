import argparse

from options import add_options

parser = argparse.ArgumentParser()
add_options(parser)
parser.add_argument("--lr", type=float, default=0.1)
print(parser.parse_args())
