"""Bugs of the simplest programs in plain Python: epochs, steps, signals, and the choice of a checkpoint."""

from support.rehearsal.bug import Bug

PLAIN_BUGS = (
    Bug(
        "epoch skipped",
        "plain_json",
        """
-    start = state["epoch"]
+    start = state["epoch"] + 1 if state["epoch"] else 0
""",
    ),
    Bug(
        "epoch repeated",
        "plain_json",
        """
-        save_checkpoint({"epoch": epoch + 1, "weights": weights})
+        save_checkpoint({"epoch": epoch, "weights": weights})
""",
    ),
    Bug(
        "epochs counted from zero after a restart",
        "plain_json",
        """
-    for epoch in range(start, args.epochs):
+    for epoch in range(args.epochs):
""",
    ),
    Bug(
        "half-written checkpoint ends the job",
        "plain_json",
        """
-    with open(CHECKPOINT + ".tmp", "w") as file:
-        json.dump(state, file)
-    os.replace(CHECKPOINT + ".tmp", CHECKPOINT)
+    with open(CHECKPOINT, "w") as file:
+        json.dump(state, file)
""",
    ),
    Bug(
        "half-written checkpoint loses the progress",
        "plain_json",
        """
-    with open(CHECKPOINT) as file:
-        return json.load(file)
+    with open(CHECKPOINT) as file:
+        weights = [float(line) for line in file]
+    return {"epoch": int(weights.pop(0)), "weights": (weights + [0.0] * 4)[:4]}

-    with open(CHECKPOINT + ".tmp", "w") as file:
-        json.dump(state, file)
-    os.replace(CHECKPOINT + ".tmp", CHECKPOINT)
+    with open(CHECKPOINT, "w") as file:
+        print(state["epoch"], file=file)
+        for weight in state["weights"]:
+            print(weight, file=file, flush=True)
+            time.sleep(0.004)
""",
    ),
    Bug(
        "checkpoints in another directory",
        "plain_json",
        """
-CHECKPOINT = os.path.join(os.environ.get("SAGEMAKER_BASE_DIR", "/opt/ml"), "checkpoints/checkpoint.json")
+CHECKPOINT = "/tmp/checkpoint.json"
""",
    ),
    Bug(
        "checkpoints never read",
        "plain_json",
        """
-    state = load_checkpoint()
+    state = {"epoch": 0, "weights": [0.0] * 4}
""",
    ),
    Bug(
        "checkpoint only at the end",
        "plain_json",
        """
-        save_checkpoint({"epoch": epoch + 1, "weights": weights})
+    save_checkpoint({"epoch": args.epochs, "weights": weights})
""",
    ),
    Bug(
        "restarted job takes itself for done",
        "plain_json",
        """
-    for epoch in range(start, args.epochs):
+    for epoch in range(start, 0 if start else args.epochs):
""",
    ),
    Bug(
        "model only from a job without a restart",
        "plain_json",
        """
-    with open(os.path.join(os.environ["SM_MODEL_DIR"], "model.json"), "w") as file:
-        json.dump({"weights": weights}, file)
+    if not start:
+        with open(os.path.join(os.environ["SM_MODEL_DIR"], "model.json"), "w") as file:
+            json.dump({"weights": weights}, file)
""",
    ),
    Bug(
        "step off by one",
        "plain_steps",
        """
-    step, epoch, done, order = saved["step"], saved["epoch"], saved["done"], saved["order"]
+    step, epoch, done, order = saved["step"], saved["epoch"], saved["done"] - 1, saved["order"]
""",
    ),
    Bug(
        "shuffle order restarted",
        "plain_steps",
        """
-    step, epoch, done, order = saved["step"], saved["epoch"], saved["done"], saved["order"]
+    step, epoch, done = saved["step"], saved["epoch"], saved["done"]
""",
    ),
    Bug(
        "state of the generator lost",
        "plain_steps",
        """
-    random.setstate(saved["rng"])
""",
    ),
    Bug(
        "position in the data lost",
        "plain_steps",
        """
-    step, epoch, done, order = saved["step"], saved["epoch"], saved["done"], saved["order"]
+    step, epoch, order = saved["step"], saved["epoch"], saved["order"]
""",
    ),
    Bug(
        "newest checkpoint by the order of names",
        "plain_steps",
        """
-    return sorted(paths, key=lambda path: int(path.rsplit("-", 1)[1][:-4]))
+    return sorted(paths)
""",
    ),
    Bug(
        "key of the checkpoint misspelled",
        "plain_steps",
        """
-    random.setstate(saved["rng"])
+    random.setstate(saved["random_state"])
""",
    ),
    Bug(
        "SIGTERM saves in the middle of a step",
        "plain_sigterm",
        """
-        print("received SIGTERM, saving after this batch", flush=True)
-        self.stopping = True
+        print("received SIGTERM, saving", flush=True)
+        self.save()
+        sys.exit(0)
""",
    ),
    Bug(
        "SIGTERM saves the progress without the weights",
        "plain_sigterm",
        """
-                    self.save()
-                    sys.exit(0)
+                    with open(self.path) as file:
+                        state = json.load(file)
+                    with open(self.path, "w") as file:
+                        json.dump({**state, "epoch": self.epoch, "batch": self.batch}, file)
+                    sys.exit(0)
""",
    ),
    Bug(
        "SIGTERM forgets the batch",
        "plain_sigterm",
        """
-        self.weights, self.epoch, self.batch = state["weights"], state["epoch"], state["batch"]
+        self.weights, self.epoch = state["weights"], state["epoch"]
""",
    ),
    Bug(
        "damaged checkpoint read without its checksum",
        "plain_two_slots",
        """
-    if not checksum or int(checksum, 16) != zlib.crc32(body.encode()):
-        print(f"{path} is damaged, ignoring it")
-        return None
+    if not checksum:
+        return None
""",
    ),
    Bug(
        "weights of the first slot with the round of the newest",
        "plain_two_slots",
        """
-    state = max(states, key=lambda state: state["round"], default=None) or initial()
+    state = states[0] if states else initial()
+    state["round"] = max((other["round"] for other in states), default=0)
""",
    ),
    Bug(
        "velocity lost",
        "plain_latest",
        """
-        first, users, items, velocity = restored
+        first, users, items, _ = restored
""",
    ),
    Bug(
        "pointer to the newest written before it",
        "plain_latest",
        """
-        dump(directory / "users.json", users)
+        self.point_to(directory.name)
+        dump(directory / "users.json", users)

-        self.point_to(directory.name)
         for old in self.root.glob("checkpoint-*"):
""",
    ),
    Bug(
        "one of two factors not restored",
        "plain_latest",
        """
-        first, users, items, velocity = restored
+        first, users, _, velocity = restored
""",
    ),
    Bug(
        "best metric forgotten",
        "plain_early_stopping",
        """
-        best, since_best, history = state["best"], state["since_best"], state["history"]
+        since_best, history = state["since_best"], state["history"]
""",
    ),
    Bug(
        "counter of early stopping lost",
        "plain_early_stopping",
        """
-        best, since_best, history = state["best"], state["since_best"], state["history"]
+        best, history = state["best"], state["history"]
""",
    ),
    Bug(
        "best model overwritten by the first after a restart",
        "plain_early_stopping",
        """
-        if loss < best:
+        if loss < best or epoch == first:
""",
    ),
    Bug(
        "history lost",
        "plain_early_stopping",
        """
-        best, since_best, history = state["best"], state["since_best"], state["history"]
+        best, since_best = state["best"], state["since_best"]
""",
    ),
    Bug(
        "history repeated",
        "plain_early_stopping",
        """
-        history.append([epoch, loss])
+        with open(os.path.join(CHECKPOINTS, "history.txt"), "a") as file:
+            file.write(json.dumps([epoch, loss]) + "\\n")
+        with open(os.path.join(CHECKPOINTS, "history.txt")) as file:
+            history = [json.loads(line) for line in file]

-        write(
-            STATE,
-            {"weights": weights, "epoch": epoch, "best": best, "since_best": since_best, "history": history},
-        )
+        if epoch % 3 == 0:
+            write(
+                STATE,
+                {"weights": weights, "epoch": epoch, "best": best, "since_best": since_best, "history": history},
+            )
""",
    ),
)
