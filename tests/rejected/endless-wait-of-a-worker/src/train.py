import os
import time

if os.environ["SM_CURRENT_HOST"] == "algo-1":
    print("training")
else:
    while True:
        time.sleep(60)
