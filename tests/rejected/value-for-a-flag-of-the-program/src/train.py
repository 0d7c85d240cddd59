import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--amp", action="store_true")
print(parser.parse_args())
