class Trainer:
    def __init__(self, rate):
        self.rate = rate

    def epoch(self, job, streams):
        print(job, streams, self.rate)
