import json

import cv2
import yaml.nodes

try:
    import apex
except ImportError:
    apex = None

print(json, cv2, yaml, apex)
