import os

print(os.environ["SM_MASTER_ADDR"])
