"""In place of the toolkit."""

from smspec_runtime.toolkit_api import take_place

take_place(__name__)
