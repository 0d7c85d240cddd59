print("trains on /opt/ml/input/data/train_0")
