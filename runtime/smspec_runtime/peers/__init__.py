"""Several hosts: one, the leader, runs the job and sends the others, its members, its result.

A member connects, sends its name and reads one line. Callers are not verified, so a wrong one must not matter: none
waits for it, and it replaces no member.
"""

# Hosts start minutes apart: each pulls the image and its data.
SECONDS = 1800.0
READY = "ready"
"""A member's answer to the leader's key."""
