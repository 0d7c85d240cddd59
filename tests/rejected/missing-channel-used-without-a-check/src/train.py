import argparse
import os

parser = argparse.ArgumentParser()
parser.add_argument("--test", default=os.environ.get("SM_CHANNEL_TEST"))
args = parser.parse_args()
print(os.path.join(args.test, "test.csv"))
