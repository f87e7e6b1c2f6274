"""The ledger: from raw tags to the entries that count, those that do not, and what is missing.

The gap this closes: whoever can push controls which tags are there, what they are
called, where they point and which are gone. The decision: a verdict is a function of
object bytes, the pinned ledger id and the pinned heads. What breaks a rule is void and
listed, and stops nobody; what a counting entry names and is not there is a problem
that names it, since a deleted "no" must not become a "yes". Reading 1,000 decisions
costs one signature check each, and an unknown key costs none.

In order: names and hashes, the grammar of each tag, the policy chain from the pinned
id, each decision under the policy it cites, and completeness.

What it does not do: it reads no repository, and says nothing of any mutation
(`standing`). Deletion of an entry that nobody linked to or pinned cannot be seen.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

import msgspec

from githarness import canon
from githarness.govern import chain as chains
from githarness.govern import policy as policies
from githarness.govern import reading
from githarness.govern import tag as tags
from githarness.govern.chain import Chain, InForce, Offered
from githarness.govern.court import Court
from githarness.govern.links import Links
from githarness.govern.payload import MOST_LINKS, Decision, PolicySignature
from githarness.govern.policy import Policy
from githarness.govern.reading import Found, Reading
from githarness.govern.tag import Tag
from githarness.govern.void import Problem, Void, VoidError

# Ten times what a busy team signs in ten years. More is an attack or a mistake, and
# the answer has to come before memory ends.
MOST_REFS = 200_000

Blob = Callable[[str], bytes | None]


class Ledger(msgspec.Struct, frozen=True, kw_only=True):
    """One reading. With `problems`, nothing in it may be taken for an approval."""

    id: str
    versions: tuple[InForce, ...]
    entries: dict[str, Tag]
    void: tuple[Void, ...]
    problems: tuple[Problem, ...]
    # What nothing else names yet: what is pinned.
    heads: tuple[str, ...]
    superseded: frozenset[str]
    # Entries that stand on main alone: their tags are gone and can be written again.
    lost: tuple[str, ...]
    # Ids of the decisions that nobody has taken back, by mutation.
    live: dict[str, tuple[str, ...]]
    # Next versions, by digest, that a root approver in office has signed, and not yet enough of them.
    waiting: dict[str, Policy]

    @property
    def policy(self) -> Policy | None:
        """The newest policy in force; None when the pinned ledger is not here."""
        return self.versions[-1].policy if self.versions else None

    @property
    def proofs(self) -> frozenset[str]:
        """Name every entry that counts (`Tag.proof`), so that none of them is verified again."""
        return frozenset(tag.proof for tag in self.entries.values())

    @property
    def prev(self) -> tuple[str, ...]:
        """What the next entry names as seen: the heads, as many of them as one entry may name."""
        return self.heads[:MOST_LINKS]

    def version(self, digest: str) -> InForce | None:
        """Return a version by its digest; None for one that was never in force."""
        return next((one for one in self.versions if one.digest == digest), None)

    def spoken(self, mutation: str) -> list[tuple[Tag, Decision]]:
        """Return every decision on one mutation that counts or counted, those taken back as well."""
        found = [(tag, tag.payload) for tag in self.entries.values() if isinstance(tag.payload, Decision)]
        return [(tag, payload) for tag, payload in found if payload.mutation == mutation]

    def decisions(self, mutation: str) -> list[tuple[Tag, Decision]]:
        """Return the decisions on one mutation that nobody has taken back."""
        found = (self.entries[one] for one in self.live.get(mutation, ()))
        return [(tag, tag.payload) for tag in found if isinstance(tag.payload, Decision)]


def load(
    refs: Mapping[str, Found],
    *,
    blob: Blob,
    pinned: str,
    heads: Collection[str] = (),
    main: Mapping[str, bytes] | None = None,
    proofs: Collection[str] = (),
    known: Iterable[Tag] = (),
) -> Ledger:
    """Read a ledger.

    `refs` holds everything below refs/tags/githarness/v1/, `main` the files below
    decisions/ of main. Both are as untrusted as `blob`, which gives a policy's bytes.
    `proofs` name entries whose signatures held before (`Tag.proof`), and are believed.
    `known` were read before, and are not read again where the bytes are the same.
    """
    if len(refs) > MOST_REFS:
        return _refused(pinned, f"{len(refs)} refs, of which {MOST_REFS} are read")
    read = reading.read(refs, main or {}, {tag.ref: tag for tag in known})
    links = Links(read.tags, proofs)
    own = (tag for tag in read.tags.values() if tag.payload.ledger == pinned)
    offered, here = _offered(own, blob)
    chain = chains.follow(pinned, offered, links)
    court = Court(pinned, chain, offered, here, links)
    links.prove(tag.id for tag in read.tags.values() if court.is_known(tag))
    entries = _judged(read, court)
    problems = [
        *chain.problems,
        *_missing(entries, links),
        *court.broken(read.tags.values(), entries),
        *(_gone(one, "lies behind an entry that counts") for one in sorted(court.gaps)),
        *(_gone(one, "was seen here before") for one in heads if not links.is_authentic(one)),
    ]
    superseded = _superseded(entries, links)
    return Ledger(
        id=pinned,
        versions=chain.versions,
        entries=entries,
        void=tuple(sorted(read.void)),
        problems=_distinct(problems),
        heads=_heads(entries, links),
        superseded=superseded,
        lost=tuple(one for one in read.lost if one in entries),
        live=_live(entries, superseded),
        waiting=_waiting(entries, chain, offered),
    )


def roots(refs: Mapping[str, Found], *, blob: Blob) -> dict[str, Policy]:
    """Return every first policy that is signed here, by ledger id: what a person may pin."""
    read = reading.read(refs, {})
    links = Links(read.tags)
    first = [tag for tag in read.tags.values() if tag.payload.ledger == tag.payload.policy]
    offered, _ = _offered(first, blob)
    found = {one: chains.follow(one, {one: new}, links) for one, new in offered.items()}
    return {one: chain.versions[0].policy for one, chain in sorted(found.items()) if chain.versions}


def _refused(pinned: str, words: str) -> Ledger:
    problem = Problem("", tags.LEDGER, "size", words)
    return Ledger(
        id=pinned,
        versions=(),
        entries={},
        void=(),
        problems=(problem,),
        heads=(),
        superseded=frozenset(),
        lost=(),
        live={},
        waiting={},
    )


def _judged(read: Reading, court: Court) -> dict[str, Tag]:
    entries: dict[str, Tag] = {}
    for tag in read.tags.values():
        try:
            court.judge(tag)
        except VoidError as error:
            read.void.append(Void(tag.ref, error.rule, error.reason))
        else:
            entries[tag.id] = tag
    return entries


def _offered(given: Iterable[Tag], blob: Blob) -> tuple[dict[str, Offered], frozenset[str]]:
    """Return the policies that somebody signed, and the digests of all that are here, also of no policy."""
    found: dict[str, list[Tag]] = {}
    for tag in given:
        if isinstance(tag.payload, PolicySignature):
            found.setdefault(tag.payload.policy, []).append(tag)
    offered: dict[str, Offered] = {}
    here: set[str] = set()
    for digest, signed in found.items():
        data = next((one for tag in signed if (one := _bytes(digest, tag.target, blob)) is not None), None)
        policy = None if data is None else _policy(data)
        here |= set() if data is None else {digest}
        if policy is not None:
            offered[digest] = Offered(digest, policy, tuple(signed))
    return offered, frozenset(here)


def _bytes(digest: str, target: str, blob: Blob) -> bytes | None:
    data = blob(target)
    return data if data is not None and canon.sha256(data) == digest else None


def _policy(data: bytes) -> Policy | None:
    try:
        return policies.decode(data)
    except VoidError:
        return None


def _missing(entries: Mapping[str, Tag], links: Links) -> Iterator[Problem]:
    for tag in entries.values():
        named = tag.payload.prev
        if isinstance(tag.payload, Decision):
            named = (*named, *tag.payload.supersedes)
        yield from (_gone(one, f"is named by {tag.id}") for one in named if not links.is_authentic(one))


def _distinct(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    # One entry is often missed by several: the first says enough.
    found = {(one.rule, one.path): one for one in reversed(list(problems))}
    return tuple(sorted(found.values()))


def _gone(entry: str, why: str) -> Problem:
    return Problem("", entry, "entry-missing", f"the entry {entry} {why}, and is not in the ledger")


def _heads(entries: Mapping[str, Tag], links: Links) -> tuple[str, ...]:
    seen = {one for entry in links.behind(entries) for one in links.before(entry)}
    return tuple(sorted(entry for entry in entries if entry not in seen))


def _live(entries: Mapping[str, Tag], superseded: frozenset[str]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for tag in entries.values():
        if isinstance(tag.payload, Decision) and tag.id not in superseded:
            found.setdefault(tag.payload.mutation, []).append(tag.id)
    return {mutation: tuple(sorted(ids)) for mutation, ids in found.items()}


def _waiting(entries: Mapping[str, Tag], chain: Chain, offered: Mapping[str, Offered]) -> dict[str, Policy]:
    placed = {one.digest for one in chain.versions}
    signed = {tag.payload.policy for tag in entries.values() if isinstance(tag.payload, PolicySignature)}
    return {digest: offered[digest].policy for digest in sorted(signed - placed)}


def _superseded(entries: Mapping[str, Tag], links: Links) -> frozenset[str]:
    found: set[str] = set()
    for tag in entries.values():
        if isinstance(tag.payload, Decision) and tag.payload.supersedes:
            behind = links.behind(tag.payload.prev)
            own = (one for one in tag.payload.supersedes if _is_own(entries, one, tag.payload))
            found.update(one for one in own if one in behind)
    return frozenset(found)


def _is_own(entries: Mapping[str, Tag], entry: str, by: Decision) -> bool:
    tag = entries.get(entry)
    payload = None if tag is None else tag.payload
    return (
        isinstance(payload, Decision)
        and payload.principal == by.principal
        and payload.mutation == by.mutation
    )
