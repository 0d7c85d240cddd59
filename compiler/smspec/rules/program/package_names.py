"""The package to install for a module, where the names differ: for the text of a help, never to decide anything."""

from __future__ import annotations

_PACKAGES = {
    "Bio": "biopython",
    "Crypto": "pycryptodome",
    "MySQLdb": "mysqlclient",
    "OpenSSL": "pyOpenSSL",
    "PIL": "pillow",
    "absl": "absl-py",
    "attr": "attrs",
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python-headless",
    "dateutil": "python-dateutil",
    "docx": "python-docx",
    "dotenv": "python-dotenv",
    "faiss": "faiss-cpu",
    "fitz": "PyMuPDF",
    "google.auth": "google-auth",
    "google.protobuf": "protobuf",
    "github": "PyGithub",
    "grpc": "grpcio",
    "hydra": "hydra-core",
    "igraph": "python-igraph",
    "imblearn": "imbalanced-learn",
    "jwt": "PyJWT",
    "kafka": "kafka-python",
    "magic": "python-magic",
    "mpl_toolkits": "matplotlib",
    "mx": "mxnet",
    "osgeo": "GDAL",
    "pkg_resources": "setuptools",
    "pl_bolts": "lightning-bolts",
    "psycopg2": "psycopg2-binary",
    "pytorch_lightning": "pytorch-lightning",
    "ruamel": "ruamel.yaml",
    "sagemaker_training": "sagemaker-training",
    "sentence_transformers": "sentence-transformers",
    "serial": "pyserial",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "skopt": "scikit-optimize",
    "slugify": "python-slugify",
    "usb": "pyusb",
    "yaml": "PyYAML",
    "zmq": "pyzmq",
}

_NAMESPACES = ("azure", "google")


def package_of(module: str, part: str = "") -> str:
    """Return the package that usually provides a module; ``part``: as much of its name as is missing."""
    names = module.split(".")
    levels = (".".join(names[:2]), names[0])
    known = next((_PACKAGES[name] for name in levels if name in _PACKAGES), None)
    # Those of Google are named after the third level: `google-cloud-storage`.
    return known or "-".join(names[:3] if names[0] in _NAMESPACES else (part or names[0]).split("."))
