import argparse


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--data-version", required=True)
    return parser.parse_args()


print(arguments())
