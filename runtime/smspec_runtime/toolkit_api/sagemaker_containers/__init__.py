"""Stands for the toolkit where the image lacks it."""

from smspec_runtime.toolkit_api import take_place

take_place(__name__)
