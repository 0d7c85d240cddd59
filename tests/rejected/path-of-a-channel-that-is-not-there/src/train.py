import os

PREFIX = "/opt/ml/"
DATA = os.path.join(PREFIX, "input/data", "training")

print(os.listdir(DATA))
