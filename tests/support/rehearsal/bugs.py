"""All bugs, in the order of the programs."""

from support.rehearsal.numpy_bugs import NUMPY_BUGS
from support.rehearsal.plain_bugs import PLAIN_BUGS
from support.rehearsal.torch_bugs import TORCH_BUGS

BUGS = (*PLAIN_BUGS, *NUMPY_BUGS, *TORCH_BUGS)
