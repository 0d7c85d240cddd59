import google.cloud.storage
import numpy
import yaml

print(numpy.zeros(3), google.cloud.storage, yaml)
