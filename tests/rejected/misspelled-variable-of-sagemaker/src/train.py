import os

print(os.environ["SM_MODEL_DIRECTORY"])
