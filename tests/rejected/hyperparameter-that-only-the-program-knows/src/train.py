class Trainer:
    def begin(self, job):
        self.rate = job.hyperparameters["lr"]
        self.batch_size = job.hyperparameters.get("batch_size", 32)

    def epoch(self, job, epoch, streams):
        for _chunk in streams["train"]:
            pass
