"""A tiny classifier: one weight per pixel and class, softmax, gradient descent. Standard library only."""

import json
import math
import os

CLASSES = 3
PIXELS = 144


class Classifier:
    """Trains on one channel and measures itself on the other, both in every epoch."""

    def begin(self, job):
        self.rate = job.hyperparameters["learning_rate"]
        self.batch_size = job.hyperparameters["batch_size"]
        self.weights = [[0.0] * (PIXELS + 1) for _ in range(CLASSES)]

    def epoch(self, job, epoch, streams):
        for batch in streams["train"].batches(self.batch_size):
            self.step([example(sample) for sample in batch])
        right = total = 0
        for pixels, label in map(example, streams["validation"]):
            scores = self.scores(pixels)
            right += scores.index(max(scores)) == label
            total += 1
        if not job.stopping:
            print("epoch {}: accuracy={:.4f} of {} pictures".format(epoch, right / total, total), flush=True)

    def end(self, job):
        with open(os.path.join(job.model_dir, "weights.json"), "w") as file:
            json.dump(self.weights, file)

    def step(self, examples):
        """Move the weights down the gradient of the cross-entropy of one batch."""
        slopes = [[0.0] * (PIXELS + 1) for _ in range(CLASSES)]
        for pixels, label in examples:
            for number, (slope, share) in enumerate(zip(slopes, softmax(self.scores(pixels)))):
                error = share - (number == label)
                slope[:] = [s + error * p for s, p in zip(slope, pixels)]
        factor = self.rate / len(examples)
        self.weights = [[w - factor * s for w, s in zip(*pair)] for pair in zip(self.weights, slopes)]

    def scores(self, pixels):
        """Return one score per class."""
        return [sum(w * p for w, p in zip(weights, pixels)) for weights in self.weights]


def example(sample):
    """Return the pixels of a sample, a constant 1 behind them for the bias, and its label."""
    header, _, pixels = sample["picture-ref"].partition(b"\n")
    if not header.startswith(b"P5 ") or len(pixels) != PIXELS:
        raise ValueError("not a PGM picture of {} pixels: {!r}".format(PIXELS, header[:20]))
    return [byte / 128 - 1 for byte in pixels] + [1.0], int(sample["class"])


def softmax(scores):
    powers = [math.exp(score - max(scores)) for score in scores]
    return [power / sum(powers) for power in powers]
