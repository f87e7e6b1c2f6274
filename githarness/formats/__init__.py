"""Readers: bytes of one transcript or surface in, a Session or Surface out.

One file per format, and siblings are strangers. Every session format offers the
same four names: `NAME`, `READER` (the reader's version, raised when it counts
differently), `sniff(peek) -> bool` and `Reader`, a msgspec struct with
`open(keep=…)`, `feed(record)` and `finish()`. `detect` holds the only list of them.
"""
