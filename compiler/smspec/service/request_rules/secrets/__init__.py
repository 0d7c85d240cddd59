"""Secrets, wherever a request contains text."""
