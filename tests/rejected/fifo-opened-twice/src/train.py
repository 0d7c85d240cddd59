FIFO = "/opt/ml/input/data/train_0"
for _ in open(FIFO):
    pass
with open(FIFO) as again:
    print(again.read())
