"""Tags: the entries of the ledger as they lie in git, byte for byte.

The gap this closes: `git tag` rewrites what it is given, `git for-each-ref` shows a
tag's fields as it understands them, and a hundred thousand junk tags or one of two
gigabytes stop whoever reads them all. The decision: a tag is written as the bytes that
were signed, under a ref that must not exist; it is read back as bytes, by two
processes whatever the number, hashed, with a limit on size and one on count, and what
was left unread is counted.

What it does not do: it verifies no signature and reads no line of a tag, so a ref that
names nothing but junk is listed as well, and voided by whoever knows the grammar.
"""


import msgspec

from githarness.errors import RefusedError, UsageError
from githarness.store import layout, refs
from githarness.store.batch import Damaged, Large, Object
from githarness.store.objects import Store
from githarness.store.publish import fresh, publish, write

# The longest honest entry, with 256 links and a long reason, is a third of this.
SIZE_LIMIT = 64 * 1024
# A policy with some thousand keys; a commit is far below it.
TARGET_LIMIT = 1 << 20
# Three hundred decisions a day for a year; read in some seconds.
COUNT_LIMIT = 100_000
TAG = "tag"
UNKNOWN = "unknown"


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """What one ref of the ledger names; `data` is None unless it is a tag that could be read.

    `kind` is git's word (`commit` or `blob` for a lightweight tag), or `unknown`.
    `fault` says why there are no bytes, and is empty when there are.
    """

    ref: str
    oid: str
    kind: str
    data: bytes | None
    fault: str


class Listing(msgspec.Struct, frozen=True, kw_only=True):
    """Every entry that was read, in order of ref, and how many are over the limit.

    `missed` have a name of an entry, `unread` have none. Names of entries are read first, so
    that junk stops nobody.
    """

    entries: tuple[Entry, ...]
    unread: int
    missed: int = 0


def create(store: Store, ref: str, data: bytes) -> str:
    """Write a tag and the ref that names it; return the object's id.

    Writing the same tag again changes nothing. RefusedError when the ref names
    something else; an entry is never replaced.
    """
    if not layout.is_ledger_tag(ref):
        raise UsageError(f"not the name of an entry of the ledger: {ref[:200]!r}")
    if len(data) > SIZE_LIMIT:
        raise UsageError(f"a tag of {len(data)} bytes, of which {SIZE_LIMIT} are allowed")
    tag = fresh(store, TAG, data)
    if publish(store, ref, [tag], old=None):
        return tag.oid
    found = store.tip(ref)
    if found != tag.oid:
        raise RefusedError(f"{ref} is there already and names {found}", hint="githarness verify")
    return tag.oid


def every(store: Store) -> Listing:
    """Return everything under the ledger's refs; two processes, each object hashed.

    A ref whose file was cut short is an entry too, without an id.
    """
    named = refs.listed(store.git, layout.LEDGER)
    legal = [one for one in named if layout.is_ledger_tag(one[0])]
    junk = [one for one in named if not layout.is_ledger_tag(one[0])]
    taken = [*legal, *junk][:COUNT_LIMIT]
    # Many refs may name one object, which is read once.
    oids = list(dict.fromkeys(oid for _, oid in taken))
    answers = dict(zip(oids, store.many(oids, limit=SIZE_LIMIT), strict=True))
    entries = [_entry(ref, oid, answers[oid]) for ref, oid in taken]
    entries += map(_broken, refs.broken(store.path, layout.LEDGER, dict(named)))
    entries.sort(key=lambda entry: entry.ref)
    missed = max(0, len(legal) - COUNT_LIMIT)
    return Listing(entries=tuple(entries), unread=len(named) - len(taken) - missed, missed=missed)


def _entry(ref: str, oid: str, answer: Object | Damaged) -> Entry:
    if isinstance(answer, Large):
        fault = f"{answer.size} bytes, of which {SIZE_LIMIT} are allowed"
        return Entry(ref=ref, oid=oid, kind=answer.kind, data=None, fault=fault)
    if isinstance(answer, Damaged):
        return Entry(ref=ref, oid=oid, kind=UNKNOWN, data=None, fault=f"object {oid}: {answer.why}")
    if answer.kind != TAG:
        fault = f"it names a {answer.kind} without a tag object"
        return Entry(ref=ref, oid=oid, kind=answer.kind, data=None, fault=fault)
    return Entry(ref=ref, oid=oid, kind=TAG, data=answer.data, fault="")


def _broken(ref: str) -> Entry:
    return Entry(ref=ref, oid="", kind=UNKNOWN, data=None, fault="the ref cannot be read")


def blob(store: Store, oid: str) -> bytes:
    """Return the bytes of a policy; CorruptError when they are not there or have another name."""
    return store.get(oid, "blob", "a policy").data


def put_blob(store: Store, data: bytes) -> str:
    """Write a policy, which no ref names until its first tag; return its id."""
    if len(data) > TARGET_LIMIT:
        raise UsageError(f"a policy of {len(data)} bytes, of which {TARGET_LIMIT} are allowed")
    policy = fresh(store, "blob", data)
    write(store, [policy])
    return policy.oid
