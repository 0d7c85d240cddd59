"""All bugs, in the order of the programs."""

from support.rehearsal.more_numpy_bugs import MORE_NUMPY_BUGS
from support.rehearsal.more_plain_bugs import MORE_PLAIN_BUGS
from support.rehearsal.numpy_bugs import NUMPY_BUGS
from support.rehearsal.plain_bugs import PLAIN_BUGS
from support.rehearsal.stateful_bugs import STATEFUL_BUGS
from support.rehearsal.torch_bugs import TORCH_BUGS

BUGS = (*PLAIN_BUGS, *MORE_PLAIN_BUGS, *STATEFUL_BUGS, *NUMPY_BUGS, *MORE_NUMPY_BUGS, *TORCH_BUGS)
