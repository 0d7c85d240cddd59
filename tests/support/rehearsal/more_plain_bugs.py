"""Bugs of programs in plain Python with several hosts, kinds of models, or ways to write checkpoints."""

from support.rehearsal.bug import Bug

MORE_PLAIN_BUGS = (
    Bug(
        "generator restarted, in a model with times",
        "plain_timed",
        """
-    rng.setstate(decode_random(state["random"]))
""",
    ),
    Bug(
        "counts added twice, in a model with times",
        "plain_timed",
        """
-    step, pulls, wins = state["step"], state["pulls"], state["wins"]
+    pulls, wins = state["pulls"], state["wins"]
""",
    ),
    Bug(
        "hosts overwrite each other's checkpoint",
        "plain_hosts",
        """
-CHECKPOINT = f"/opt/ml/checkpoints/{HOST}.json"
+CHECKPOINT = "/opt/ml/checkpoints/state.json"
""",
    ),
    Bug(
        "one host does not resume",
        "plain_hosts",
        """
-if os.path.isfile(CHECKPOINT):
+if os.path.isfile(CHECKPOINT) and RANK == 0:
     with open(CHECKPOINT) as file:
         saved = json.load(file)
     counts, done = Counter(saved["counts"]), saved["done"]
     print(f"{HOST}: {done} documents were counted before")
+elif os.path.isfile(CHECKPOINT):
+    with open(CHECKPOINT) as file:
+        counts = Counter(json.load(file)["counts"])
""",
    ),
    Bug(
        "initial weights loaded over those of the checkpoint",
        "plain_warm_start",
        """
-    weights, step = state["weights"], state["step"]
+    step = state["step"]
""",
    ),
    Bug(
        "momentum lost",
        "plain_momentum",
        """
-            state.update(json.load(file))
+            state.update(json.load(file), momentum=[0.0] * 5)
""",
    ),
    Bug(
        "warmup and decay start again",
        "plain_momentum",
        """
-            state.update(json.load(file))
+            state.update(json.load(file), global_step=0)
""",
    ),
    Bug(
        "saved before the last step of the epoch",
        "plain_momentum",
        """
-    while state["epoch"] < EPOCHS:
+    while state["epoch"] < EPOCHS:
+        saved = state

             slope, loss = gradient(state["weights"], batch_of(state["epoch"], number))
+            saved = {**state, "epoch": state["epoch"] + 1}

-            json.dump(state, file)
+            json.dump(saved, file)
""",
    ),
    Bug(
        "shard counted again",
        "plain_shards",
        """
-        progress = {"done": [*progress["done"], shard.name], "counts": dict(counts)}
-        store(progress)
+        store({**progress, "counts": dict(counts)})
+        progress = {"done": [*progress["done"], shard.name], "counts": dict(counts)}
""",
    ),
    Bug(
        "counts of finished shards lost",
        "plain_shards",
        """
-    counts = defaultdict(int, progress["counts"])
+    counts = defaultdict(int)
""",
    ),
    Bug(
        "generator of mutations restarted",
        "plain_evolution",
        """
-        rng.setstate((version, tuple(numbers), gauss))
""",
    ),
    Bug(
        "best member forgotten",
        "plain_evolution",
        """
-            return cls(**json.load(file))
+            return cls(**{**json.load(file), "best_score": -1e9})
""",
    ),
    Bug(
        "rounds of a restart added to those before",
        "plain_boosting",
        """
-        return json.load(file), saved[-1] + 1
+        return json.load(file), 0
""",
    ),
    Bug(
        "round off by one",
        "plain_boosting",
        """
-        return json.load(file), saved[-1] + 1
+        return json.load(file), saved[-1]
""",
    ),
    Bug(
        "transaction ends with each step",
        "plain_sqlite",
        """
-    database.execute("BEGIN")

-    database.execute("COMMIT")
""",
    ),
    Bug(
        "values not read back",
        "plain_sqlite",
        """
-q.update({(cell, action): value for cell, action, value in database.execute("SELECT * FROM q")})
""",
    ),
    Bug(
        "step repeated by a program without output",
        "plain_no_output",
        """
-    s = json.load(open(path))
+    s = json.load(open(path))
+    s[0] -= 1
""",
    ),
    Bug(
        "oldest checkpoint read, and directories that exist",
        "plain_links",
        """
-    return os.path.join(ROOT, max(whole)) if whole else None
+    return os.path.join(ROOT, min(whole)) if whole else None

-    os.makedirs(os.path.join(directory, "state"), exist_ok=True)
+    os.makedirs(os.path.join(directory, "state"))
""",
    ),
    Bug(
        "thread writes a state that training changes",
        "plain_writer_thread",
        """
-        writer.states.put(copy.deepcopy(state))
+        writer.states.put(state)
""",
    ),
)
