"""Fit y = a x + b to streamed points, one step per point."""

import json
import os


class Trainer:
    """The pipe loop creates one instance and calls it once per epoch, with a stream per Pipe channel."""

    def begin(self, job):
        self.a = self.b = 0.0
        self.lr = job.hyperparameters["lr"]

    def epoch(self, job, epoch, streams):
        loss = count = 0
        for point in streams["train"]:
            miss = self.a * point["x"] + self.b - point["y"]
            self.a -= self.lr * miss * point["x"]
            self.b -= self.lr * miss
            loss, count = loss + miss * miss, count + 1
        print("epoch={} loss={:.6f}".format(epoch, loss / max(1, count)), flush=True)

    def end(self, job):
        # SageMaker packs what is in the model directory when the job ends into model.tar.gz.
        with open(os.path.join(job.model_dir, "model.json"), "w") as file:
            json.dump({"a": self.a, "b": self.b}, file)
