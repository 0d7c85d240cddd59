"""Several hosts: one, the leader, runs the job and tells the others, its members, how it ended.

A member connects, says its name and reads one line, the exit status and the reason. Where ssh starts processes on
members, the two exchange public keys before: see `keys`. Nobody proves who he is, so a wrong caller must not matter:
nobody waits for him, and he takes nobody's place.
"""

# Hosts start minutes apart: each pulls the image and its own part of the data.
SECONDS = 1800.0
READY = "ready"
"""A member's answer to the leader's key."""
