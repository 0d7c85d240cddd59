print("training for 10 epochs")
