import argparse

parser = argparse.ArgumentParser()
length = parser.add_mutually_exclusive_group(required=True)
length.add_argument("--epochs", type=int)
length.add_argument("--steps", type=int)
print(parser.parse_args())
