import os

print(os.environ.get("SM_NUM_GPU", "1"))
