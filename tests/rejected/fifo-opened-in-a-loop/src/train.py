import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=1)
args = parser.parse_args()

for epoch in range(args.epochs):
    with open("/opt/ml/input/data/train_0", "rb") as stream:
        stream.read()
