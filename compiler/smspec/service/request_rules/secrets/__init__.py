"""Secrets, wherever a request has room for text."""
