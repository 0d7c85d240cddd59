import sys

from models import large
from models.small import build, weights

from .options import EPOCHS

try:
    from models import turbo
except ImportError:
    turbo = None

print(build(), large, weights, turbo, EPOCHS, sys.argv)
