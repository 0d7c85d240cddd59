"""Bugs of programs with PyTorch."""

from support.rehearsal.bug import Bug

TORCH_BUGS = (
    Bug(
        "optimizer lost",
        "torch_imagenet",
        """
-        optimizer.load_state_dict(checkpoint["optimizer"])
""",
    ),
    Bug(
        "schedule restarted",
        "torch_imagenet",
        """
-        scheduler.load_state_dict(checkpoint["scheduler"])
""",
    ),
    Bug(
        "best accuracy forgotten",
        "torch_imagenet",
        """
-        best_acc1 = checkpoint["best_acc1"]
""",
    ),
    Bug(
        "same order of data after each restart",
        "torch_imagenet",
        """
-        generator = torch.Generator().manual_seed(args.seed + epoch)
+        generator = torch.Generator().manual_seed(args.seed + epoch - start_epoch)
""",
    ),
    Bug(
        "batches not skipped",
        "torch_trainer",
        """
-        epoch, skipped = divmod(self.state["global_step"], per_epoch)
+        epoch, skipped = self.state["global_step"] // per_epoch, 0
""",
    ),
    Bug(
        "generator of dropout lost",
        "torch_trainer",
        """
-        torch.set_rng_state(rng_state["cpu"])
""",
    ),
    Bug(
        "history of the log lost",
        "torch_trainer",
        """
-            self.state = json.load(file)
+            self.state["global_step"] = json.load(file)["global_step"]
""",
    ),
    Bug(
        "model left in evaluation",
        "torch_amp",
        """
-    model.train()
     for number in range(BATCHES):
         x, y = batch_of(epoch, number)

-    print(f"epoch {epoch} scale {scaler.scale} loss={evaluate(model):.6f}", flush=True)
+    print(f"epoch {epoch} scale {scaler.scale} loss={evaluate(model):.6f}", flush=True)
+    model.train()
""",
    ),
    Bug(
        "buffers of BatchNorm not saved",
        "torch_amp",
        """
-    model.load_state_dict(checkpoint["model"])
+    model.load_state_dict(checkpoint["model"], strict=False)

-        "model": model.state_dict(),
+        "model": dict(model.named_parameters()),
""",
    ),
    Bug(
        "average restarted",
        "torch_amp",
        """
-    average = checkpoint["average"]
""",
    ),
    Bug(
        "scale restarted",
        "torch_amp",
        """
-    scaler.load_state_dict(checkpoint["scaler"])
""",
    ),
    Bug(
        "generator of the loader restarted",
        "torch_workers",
        """
-        generator.set_state(state["generator"])
""",
    ),
    Bug(
        "total epochs doubled",
        "torch_workers",
        """
-    for epoch in range(start, args.epochs):
+    for epoch in range(start, start + args.epochs):
""",
    ),
    Bug(
        "optimizer made before the module is replaced",
        "torch_modules",
        """
-        self.module.load_state_dict(checkpoint["state_dict"])
+        self.module = Autoencoder()
+        self.module.load_state_dict(checkpoint["state_dict"])
""",
    ),
    Bug(
        "epoch repeated",
        "torch_modules",
        """
-        self.current_epoch = checkpoint["epoch"] + 1
+        self.current_epoch = checkpoint["epoch"]
""",
    ),
)
