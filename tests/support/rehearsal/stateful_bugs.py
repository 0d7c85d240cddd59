"""Bugs of programs in plain Python whose state has several parts: files, ranks, workers, buffers, and counters."""

from support.rehearsal.bug import Bug

STATEFUL_BUGS = (
    Bug(
        "best score forgotten, with its checkpoint",
        "plain_keep_three",
        """
-    state = saved
+    state = {**saved, "best": -1e9}
""",
    ),
    Bug(
        "rotation removes the best after a restart",
        "plain_keep_three",
        """
-    state = saved
+    state = {**saved, "best_name": None}
""",
    ),
    Bug(
        "shard of the first rank for every rank",
        "plain_ranks",
        """
-    with open(path(step, RANK)) as file:
+    with open(path(step, 0)) as file:
""",
    ),
    Bug(
        "step of a rank alone taken for a whole one",
        "plain_ranks",
        """
-    return max((step for step, ranks in found.items() if len(ranks) == len(HOSTS)), default=0)
+    return max((step for step, ranks in found.items() if RANK in ranks), default=0)
""",
    ),
    Bug(
        "generators of the workers count from the restart",
        "plain_loaders",
        """
-    while epoch < EPOCHS:
+    first = epoch
+    while epoch < EPOCHS:

-        for _, x, y in batch(epoch):
+        for _, x, y in batch(epoch - first):
""",
    ),
    Bug(
        "part of a row taken for a whole one",
        "plain_halving",
        """
-    with open(TABLE, "rb+") as file:
-        content = file.read()
-        file.truncate(content.rfind(b"\\n") + 1)
""",
    ),
    Bug(
        "result of one rung taken for that of another",
        "plain_halving",
        """
-done = {(rung, number): loss for rung, number, _, loss in table()}
+done = {number: loss for rung, number, _, loss in table()}

-            loss = done.get((rung, number))
+            loss = done.get(number)
""",
    ),
    Bug(
        "shuffle buffer lost",
        "plain_shuffle_buffer",
        """
-        reader, seen, mean, rate = pickle.load(file)
+        reader, seen, mean, rate = pickle.load(file)
+        reader.buffer.clear()
""",
    ),
    Bug(
        "replay memory lost",
        "plain_replay",
        """
-    memory.extend(saved["memory"])
""",
    ),
    Bug(
        "target network copied at a restart",
        "plain_replay",
        """
-    q, target, epsilon = saved["q"], saved["target"], saved["epsilon"]
+    q, target, epsilon = saved["q"], [row[:] for row in saved["q"]], saved["epsilon"]
""",
    ),
    Bug(
        "exploration restarted",
        "plain_replay",
        """
-    q, target, epsilon = saved["q"], saved["target"], saved["epsilon"]
+    q, target = saved["q"], saved["target"]
""",
    ),
    Bug(
        "updates counted from zero",
        "plain_replay",
        """
-    episode, updates = saved["episode"], saved["updates"]
+    episode = saved["episode"]
""",
    ),
)
