"""The smallest bring-your-own algorithm of Pipe mode: read every byte of every epoch, keep nothing but the count."""

import json
import os


def discard(job, epoch, streams):
    """Drain the channel once and note in the model directory how far the job has come."""
    total = sum(len(chunk) for chunk in streams["training"])
    with open(os.path.join(job.model_dir, "model.json"), "w") as model:
        json.dump({"epochs": epoch + 1, "bytes_per_epoch": total}, model)
