loss = 0.25
print(f"Epoch 1, Train Loss: {loss:.4f}")
