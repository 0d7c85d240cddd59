from jsonargparse import CLI


def train(batch_size: int = 16):
    print(batch_size)


CLI(train)
