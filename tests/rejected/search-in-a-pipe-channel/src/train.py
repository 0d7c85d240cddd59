import glob
import os

files = glob.glob(os.path.join(os.environ["SM_CHANNEL_TRAIN"], "*.csv"))
