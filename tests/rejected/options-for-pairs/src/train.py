from omegaconf import OmegaConf

print(OmegaConf.merge({"lr": 0.01}, OmegaConf.from_cli()))
