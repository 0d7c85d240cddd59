"""Namespaces: hosts as processes with a root, a network, and a first process of their own."""
