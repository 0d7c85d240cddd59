"""A linear model, fitted by stochastic gradient descent to records as they stream by."""

import json
import os

try:
    import numpy
except ImportError:  # the image need not have it
    numpy = None


class Trainer:
    """Keeps a weight per feature and a bias; `begin` takes up what an interrupted job has saved."""

    def begin(self, job):
        self.rate = job.hyperparameters["learning_rate"]
        self.batch_size = job.hyperparameters["batch_size"]
        self.checkpoint = os.path.join(job.checkpoint_dir, "weights.json")
        self.weights, self.bias = [], 0.0
        if os.path.exists(self.checkpoint):
            with open(self.checkpoint) as file:
                self.weights, self.bias = json.load(file)

    def epoch(self, job, epoch, streams):
        loss = records = 0
        for batch in streams["train"].batches(self.batch_size):
            loss += self.step(batch)
            records += len(batch)
        if streams["train"].stopped:  # the checkpoint of the epoch before stands: this one is read again
            return
        print("epoch {}: loss={:.6f} over {} records".format(epoch, loss / records, records), flush=True)
        self.save(self.checkpoint)

    def end(self, job):
        self.save(os.path.join(job.model_dir, "weights.json"))

    def step(self, batch):
        """Move the weights down the gradient of the mean squared error; return the sum of squared errors before."""
        features, labels = batch.features["values"].values, batch.label["values"].values
        count = len(batch)
        self.weights = self.weights or [0.0] * (batch.features["values"].shape[1])
        if numpy is not None:  # a matrix with a row for each record
            errors = features @ numpy.array(self.weights) + self.bias - labels[:, 0]
            slopes = (errors @ features).tolist()
            total, squares = float(errors.sum()), float(errors @ errors)
        else:  # row after row
            width = len(self.weights)
            rows = [features[i * width : (i + 1) * width] for i in range(count)]
            errors = [self.bias - y + sum(w * x for w, x in zip(self.weights, row)) for row, y in zip(rows, labels)]
            slopes = [sum(e * x for e, x in zip(errors, column)) for column in zip(*rows)]
            total, squares = sum(errors), sum(e * e for e in errors)
        self.weights = [w - self.rate * 2 * slope / count for w, slope in zip(self.weights, slopes)]
        self.bias -= self.rate * 2 * total / count
        return squares

    def save(self, path):
        """Write the weights, whole or not at all: the job can be interrupted here too."""
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path + "~", "w") as file:
            json.dump([self.weights, self.bias], file)
        os.replace(path + "~", path)
