import os

print(os.listdir(os.environ["SM_CHANNEL_TRAIN"]))
