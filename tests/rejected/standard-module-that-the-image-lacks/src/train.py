import asyncio
import imp
from distutils.util import strtobool

print(asyncio, imp, strtobool("1"))
