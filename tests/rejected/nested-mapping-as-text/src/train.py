import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--model")
print(parser.parse_args())
