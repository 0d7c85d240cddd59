"""Bugs of programs with NumPy."""

from support.rehearsal.bug import Bug

NUMPY_BUGS = (
    Bug(
        "state of the generator lost",
        "numpy_logistic",
        """
-            rng.bit_generator.state = json.loads(str(saved["rng"]))
""",
    ),
    Bug(
        "history lost",
        "numpy_logistic",
        """
-            weights, start, history = saved["weights"], int(saved["epoch"]), saved["history"].tolist()
+            weights, start = saved["weights"], int(saved["epoch"])
""",
    ),
    Bug(
        "epoch skipped",
        "numpy_logistic",
        """
-        print(f"resumed from epoch {start}")
+        print(f"resumed from epoch {start}")
+        start += 1
""",
    ),
    Bug(
        "moments of Adam lost",
        "numpy_adam",
        """
-        optimizer.load_state_dict(checkpoint["optimizer"])
+        optimizer.t = checkpoint["optimizer"]["t"]
""",
    ),
    Bug(
        "steps of Adam lost",
        "numpy_adam",
        """
-        self.t, self.m, self.v = state["t"], state["m"], state["v"]
+        self.m, self.v = state["m"], state["v"]
""",
    ),
    Bug(
        "warmup again after a restart",
        "numpy_adam",
        """
-        schedule.steps = checkpoint["schedule"]
""",
    ),
    Bug(
        "state under a wrong key ignored",
        "numpy_adam",
        """
-        optimizer.load_state_dict(checkpoint["optimizer"])
+        if "optim" in checkpoint:
+            optimizer.load_state_dict(checkpoint["optim"])
""",
    ),
    Bug(
        "optimizer keeps the parameters from before the checkpoint",
        "numpy_adam",
        """
-        parameters.update(checkpoint["parameters"])
+        parameters = checkpoint["parameters"]
""",
    ),
    Bug(
        "oldest checkpoint read",
        "numpy_adam",
        """
-    return max(names, key=lambda name: int(name[6:-4])) if names else None
+    return min(names, key=lambda name: int(name[6:-4])) if names else None

-        start = checkpoint["epoch"] + 1
+        start = len(os.listdir(CHECKPOINTS)) + 1
""",
    ),
    Bug(
        "average of the weights lost",
        "numpy_ema",
        """
-    weights, average, first = saved["weights"], saved["average"], int(saved["next"])
+    weights, average, first = saved["weights"], saved["weights"].copy(), int(saved["next"])
""",
    ),
    Bug(
        "normalization from the remaining data",
        "numpy_ema",
        """
-    normalizer.count, normalizer.mean, normalizer.m2 = int(saved["count"]), saved["mean"], saved["m2"]
""",
    ),
    Bug(
        "count of the normalization lost",
        "numpy_ema",
        """
-    normalizer.count, normalizer.mean, normalizer.m2 = int(saved["count"]), saved["mean"], saved["m2"]
+    normalizer.mean, normalizer.m2 = saved["mean"], saved["m2"]
""",
    ),
    Bug(
        "accumulated gradients lost",
        "numpy_tensors",
        """
-    step = int(metadata["step"])
+    step = int(metadata["step"])
+    tensors["accumulated"][:] = 0
""",
    ),
    Bug(
        "missing end of a file filled with zeros",
        "numpy_tensors",
        """
-    with open(path + ".tmp", "wb") as file:
+    with open(path, "wb") as file:

-    os.replace(path + ".tmp", path)

-        body = file.read()
+        body = file.read().ljust(4096, b"\\0")
""",
    ),
    Bug(
        "counts of the clusters lost",
        "numpy_kmeans",
        """
-        counts = np.load(os.path.join(directory, "counts.npy"))
""",
    ),
    Bug(
        "directory of a checkpoint filled in place",
        "numpy_kmeans",
        """
-    partial = target + ".partial"
-    shutil.rmtree(partial, ignore_errors=True)
-    os.makedirs(partial)
+    partial = target
+    os.makedirs(partial, exist_ok=True)

-    shutil.rmtree(target, ignore_errors=True)
-    os.rename(partial, target)
""",
    ),
    Bug(
        "best residual forgotten",
        "numpy_converging",
        """
-        plateau.rate, plateau.best = float(saved["rate"]), float(saved["best"])
+        plateau.rate = float(saved["rate"])
""",
    ),
    Bug(
        "rate restarted",
        "numpy_converging",
        """
-        plateau.rate, plateau.best = float(saved["rate"]), float(saved["best"])
+        plateau.best = float(saved["best"])
""",
    ),
)
