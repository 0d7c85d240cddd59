"""Decompress a gzip stream: one or several members, in pieces of limited size."""

import zlib
from typing import Iterable, Iterator

from .fault import ChannelDataError

_PIECE = 1 << 18
_GZIP = 31  # window bits of zlib: gzip header and trailer


def decompressed(name: str, blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the content of a gzip stream in ``blocks``; ``name`` is its name in messages."""
    inflater = zlib.decompressobj(_GZIP)
    started = False
    for data in blocks:
        while data:
            if inflater.eof:
                data = data.lstrip(b"\0")  # some writers pad the last block
                if not data:
                    break
                inflater = zlib.decompressobj(_GZIP)
            started = True
            try:
                piece = inflater.decompress(data, _PIECE)
            except zlib.error:
                raise ChannelDataError("`{}` is not a gzip file".format(name)) from None
            if piece:
                yield piece
            data = inflater.unconsumed_tail or inflater.unused_data
    if started and not inflater.eof:
        yield inflater.flush()
    if started and not inflater.eof:
        raise ChannelDataError("`{}` is a truncated gzip file".format(name))
