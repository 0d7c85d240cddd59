"""Several hosts: the leader runs the job and sends its result to the members.

A member connects, sends its name and reads one line. Callers are not verified: no host waits for a wrong one, and it
replaces no member."""

# Hosts start minutes apart: each pulls image and data.
SECONDS = 1800.0
READY = "ready"
"""A member's answer to the leader's key."""
