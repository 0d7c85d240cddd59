from models.layers import DENSE


def build():
    return [DENSE]
