"""Several hosts: one, the leader, runs the job and tells the others, its members, how it ended.

A member connects, says its name and reads one line. Callers prove nothing, so a wrong one must not matter: none waits
for it, and it takes no member's place.
"""

# Hosts start minutes apart: each pulls the image and its own part of the data.
SECONDS = 1800.0
READY = "ready"
"""A member's answer to the leader's key."""
