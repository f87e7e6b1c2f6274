"""Reading: from what stands at refs and on main to entries in the one form.

The gap this closes: `git cat-file` hands out a substituted object without a word, and
a name in the ledger can be given to anything. The decision: names first, then the
hash of every object, then the grammar; each step is cheaper than the next, so that
100,000 junk tags cost a second. An entry that stands both at a ref and on main is one
entry, and the good copy wins.

What it does not do: it verifies no signature, but where two copies differ.
"""

from collections.abc import Mapping

import msgspec

from githarness.govern import tag as tags
from githarness.govern.links import is_signed
from githarness.govern.tag import Tag
from githarness.govern.void import Void, VoidError


class Found(msgspec.Struct, frozen=True):
    """What a ref points at: object id, kind, and bytes; None when they cannot be read.

    A kind of `unknown` is that of an object which is not there or has another name.
    """

    oid: str
    kind: str
    data: bytes | None


class Reading(msgspec.Struct):
    """Entries by id, what is void, and the ids that stand on main alone."""

    tags: dict[str, Tag] = {}
    void: list[Void] = []
    lost: list[str] = []


def read(
    refs: Mapping[str, Found], main: Mapping[str, bytes], known: Mapping[str, Tag] | None = None
) -> Reading:
    """Read the refs below refs/tags/githarness/v1/, and the files below decisions/ of main.

    `known` are tags that were read before, by ref; the same bytes are not read twice.
    """
    read, known = Reading(), known or {}
    for ref, found in sorted(refs.items()):
        before = known.get(ref)
        try:
            data = _checked(ref, found)
            tag = before if before is not None and before.data == data else tags.parse(ref, data)
        except VoidError as error:
            read.void.append(Void(ref, error.rule, error.reason))
        else:
            read.tags[tag.id] = tag
    for path, data in sorted(main.items()):
        try:
            _read_file(read, path, data)
        except VoidError as error:
            read.void.append(Void(path, error.rule, error.reason))
    return read


def _checked(ref: str, found: Found) -> bytes:
    if not tags.is_name(ref):
        raise VoidError("name", "no name that an entry can have")
    if found.kind not in {"tag", "unknown"}:
        raise VoidError("kind", f"the ref names a {found.kind}, and no tag")
    if found.data is None:
        raise VoidError("object", "the object cannot be read, or is too large")
    if tags.object_id("tag", found.data, found.oid) != found.oid:
        raise VoidError("object", "the bytes are not those the object id names")
    return found.data


def _read_file(read: Reading, path: str, data: bytes) -> None:
    ref = tags.ref_of_file(path)
    if ref is None:
        raise VoidError("name", "no name that a decision on main can have")
    there = read.tags.get(tags.id_of(ref))
    # The same bytes at the same name need not be read twice.
    if there is not None and there.ref == ref and there.data == data:
        return
    tag = tags.parse(ref, data)
    # A tag whose signature was spoilt does not hide the good copy on main.
    if there is not None and is_signed(there):
        return
    if there is not None:
        read.void.append(Void(ref, "signature", "the signature was spoilt; the copy on main is read"))
    read.tags[tag.id] = tag
    read.lost.append(tag.id)
