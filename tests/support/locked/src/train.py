import numpy
import six

print(numpy.zeros(3), six.__version__)
