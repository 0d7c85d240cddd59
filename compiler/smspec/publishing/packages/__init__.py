"""The Python packages of an image that is made without an engine: wheels, unpacked as pip installs them."""
