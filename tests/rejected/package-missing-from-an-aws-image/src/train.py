import cv2
import flash_attn
import torch
import transformers
import yaml
from google.protobuf import message
from nvidia import nccl
from peft import LoraConfig
from sklearn import metrics

try:
    import wandb
except ImportError:
    wandb = None

print(cv2, flash_attn, torch, yaml, message, nccl, metrics, transformers, LoraConfig, wandb)
