"""Shared parts of tests by area; modules at the top serve several areas."""
