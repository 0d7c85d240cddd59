import os

print("tracking as", os.environ["TRACKING_USER"])
