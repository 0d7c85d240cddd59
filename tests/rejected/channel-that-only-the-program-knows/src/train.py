import argparse
import os

parser = argparse.ArgumentParser()
parser.add_argument("--train", default=os.environ["SM_CHANNEL_TRAIN"])
parser.add_argument("--test", default=os.environ.get("SM_CHANNEL_TEST"))  # may be left out
print(parser.parse_args())
