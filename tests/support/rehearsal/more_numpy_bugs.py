"""Bugs of loops with NumPy and scikit-learn whose state has several parts."""

from support.rehearsal.bug import Bug

MORE_NUMPY_BUGS = (
    Bug(
        "mapped copy trained in place after a restart",
        "numpy_memmap",
        """
-    current = np.array(factors(copy))
+    current = factors(copy)
""",
    ),
    Bug(
        "schedule of a callback forgotten",
        "numpy_callbacks",
        """
-        for callback in self.callbacks:
-            callback.__dict__.update(state["callbacks"][type(callback).__name__])
+        for callback in self.callbacks:
+            if callback is not self.schedule:
+                callback.__dict__.update(state["callbacks"][type(callback).__name__])
""",
    ),
    Bug(
        "average of a callback forgotten",
        "numpy_callbacks",
        """
-        for callback in self.callbacks:
-            callback.__dict__.update(state["callbacks"][type(callback).__name__])
+        for callback in self.callbacks[1:]:
+            callback.__dict__.update(state["callbacks"][type(callback).__name__])
""",
    ),
    Bug(
        "waiting of early stopping begins again",
        "numpy_callbacks",
        """
-            callback.__dict__.update(state["callbacks"][type(callback).__name__])
+            callback.__dict__.update(state["callbacks"][type(callback).__name__])
+        self.callbacks[2].waited = 0
""",
    ),
    Bug(
        "best model forgotten by its callback",
        "numpy_callbacks",
        """
-        for callback in self.callbacks:
-            callback.__dict__.update(state["callbacks"][type(callback).__name__])
+        for callback in self.callbacks[:-1]:
+            callback.__dict__.update(state["callbacks"][type(callback).__name__])
""",
    ),
    Bug(
        "velocity of one of two players lost",
        "numpy_adversaries",
        """
-            optimizers[name].velocity = saved[f"{name}_velocity"]
+        optimizers["generator"].velocity = saved["generator_velocity"]
""",
    ),
    Bug(
        "phase restarted",
        "numpy_adversaries",
        """
-        step, phase = int(saved["step"]), int(saved["phase"])
+        step = int(saved["step"])
""",
    ),
    Bug(
        "scaler fitted on the remaining data",
        "sklearn_stream",
        """
-    state = joblib.load(CHECKPOINT)
+    state = joblib.load(CHECKPOINT) | {"scaler": StandardScaler()}
""",
    ),
    Bug(
        "count of right answers lost",
        "sklearn_stream",
        """
-    state = joblib.load(CHECKPOINT)
+    state = joblib.load(CHECKPOINT) | {"right": 0}
""",
    ),
)
