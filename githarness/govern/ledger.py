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

from collections.abc import Callable, Collection, Iterator, Mapping

import msgspec

from githarness import canon
from githarness.govern import chain as chains
from githarness.govern import policy as policies
from githarness.govern import tag as tags
from githarness.govern.chain import Chain, InForce, Offered
from githarness.govern.links import Links, Reach, is_signed
from githarness.govern.payload import Decision, PolicySignature
from githarness.govern.policy import Policy
from githarness.govern.tag import Tag
from githarness.govern.void import Problem, Void, VoidError

# Ten times what a busy team signs in ten years. More is an attack or a mistake, and
# the answer has to come before memory ends.
MOST_REFS = 200_000

Blob = Callable[[str], bytes | None]


class Found(msgspec.Struct, frozen=True):
    """What a ref points at: object id, kind, and bytes; None when they cannot be read."""

    oid: str
    kind: str
    data: bytes | None


class Ledger(msgspec.Struct, frozen=True, kw_only=True):
    """One reading. With `problems`, nothing in it may be taken for an approval."""

    id: str
    versions: tuple[InForce, ...]
    entries: dict[str, Tag]
    void: tuple[Void, ...]
    problems: tuple[Problem, ...]
    # What the next entry names as seen.
    heads: tuple[str, ...]
    superseded: frozenset[str]
    # Entries that stand on main alone: their tags are gone and can be written again.
    lost: tuple[str, ...]
    # Ids of the decisions that nobody has taken back, by mutation.
    live: dict[str, tuple[str, ...]]

    @property
    def policy(self) -> Policy | None:
        """The newest policy in force; None when the pinned ledger is not here."""
        return self.versions[-1].policy if self.versions else None

    def version(self, digest: str) -> InForce | None:
        """Return a version by its digest; None for one that was never in force."""
        return next((one for one in self.versions if one.digest == digest), None)

    def decisions(self, mutation: str) -> list[tuple[Tag, Decision]]:
        """Return the decisions on one mutation that nobody has taken back."""
        found = (self.entries[one] for one in self.live.get(mutation, ()))
        return [(tag, tag.payload) for tag in found if isinstance(tag.payload, Decision)]


class _Reading(msgspec.Struct):
    """What has been read so far, by name and by what is wrong with it."""

    tags: dict[str, Tag] = {}
    void: list[Void] = []
    lost: list[str] = []


def load(
    refs: Mapping[str, Found],
    *,
    blob: Blob,
    pinned: str,
    heads: Collection[str] = (),
    main: Mapping[str, bytes] | None = None,
) -> Ledger:
    """Read a ledger.

    `refs` holds everything below refs/tags/githarness/v1/, `main` the files below
    decisions/ of main. Both are as untrusted as `blob`, which gives a policy's bytes.
    """
    if len(refs) > MOST_REFS:
        return _refused(pinned, f"{len(refs)} refs, of which {MOST_REFS} are read")
    read = _read(refs, main or {})
    links = Links(read.tags)
    offered = _offered(read, blob, pinned)
    chain = chains.follow(pinned, offered, links)
    court = _Court(pinned, chain, offered, links)
    entries: dict[str, Tag] = {}
    for tag in read.tags.values():
        try:
            court.judge(tag)
        except VoidError as error:
            read.void.append(Void(tag.ref, error.rule, error.reason))
        else:
            entries[tag.id] = tag
    problems = [*chain.problems, *_missing(entries, links), *court.broken(read.tags.values(), entries)]
    problems += [_gone(one, "was seen here before") for one in heads if not links.is_authentic(one)]
    superseded = _superseded(entries, links)
    return Ledger(
        id=pinned,
        versions=chain.versions,
        entries=entries,
        void=tuple(sorted(read.void)),
        problems=tuple(sorted(frozenset(problems))),
        heads=_heads(entries, links),
        superseded=superseded,
        lost=tuple(one for one in read.lost if one in entries),
        live=_live(entries, superseded),
    )


def roots(refs: Mapping[str, Found], *, blob: Blob) -> dict[str, Policy]:
    """Return every first policy that is signed here, by ledger id: what a person may pin."""
    read = _read(refs, {})
    named = {tag.payload.ledger for tag in read.tags.values() if tag.payload.ledger == tag.payload.policy}
    links = Links(read.tags)
    found = {one: chains.follow(one, _offered(read, blob, one), links) for one in sorted(named)}
    return {one: chain.versions[0].policy for one, chain in found.items() if chain.versions}


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
    )


def _read(refs: Mapping[str, Found], main: Mapping[str, bytes]) -> _Reading:
    read = _Reading()
    for ref, found in sorted(refs.items()):
        try:
            tag = tags.parse(ref, _checked(ref, found))
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
    if found.kind != "tag":
        raise VoidError("kind", f"the ref names a {found.kind}, and no tag")
    if found.data is None:
        raise VoidError("object", "the object cannot be read, or is too large")
    if tags.object_id("tag", found.data, found.oid) != found.oid:
        raise VoidError("object", "the bytes are not those the object id names")
    return found.data


def _read_file(read: _Reading, path: str, data: bytes) -> None:
    ref = tags.ref_of_file(path)
    if ref is None:
        raise VoidError("name", "no name that a decision on main can have")
    tag = tags.parse(ref, data)
    there = read.tags.get(tag.id)
    # A tag whose signature was spoilt does not hide the good copy on main.
    if there is not None and (there.data == data or is_signed(there)):
        return
    if there is not None:
        read.void.append(Void(ref, "signature", "the signature was spoilt; the copy on main is read"))
    read.tags[tag.id] = tag
    read.lost.append(tag.id)


def _offered(read: _Reading, blob: Blob, pinned: str) -> dict[str, Offered]:
    found: dict[str, list[Tag]] = {}
    for tag in read.tags.values():
        if isinstance(tag.payload, PolicySignature) and tag.payload.ledger == pinned:
            found.setdefault(tag.payload.policy, []).append(tag)
    offered = {}
    for digest, signed in found.items():
        policy = next((one for tag in signed if (one := _policy(digest, tag.target, blob))), None)
        if policy is not None:
            offered[digest] = Offered(digest, policy, tuple(signed))
    return offered


def _policy(digest: str, target: str, blob: Blob) -> Policy | None:
    data = blob(target)
    if data is None or canon.sha256(data) != digest:
        return None
    try:
        return policies.decode(data)
    except VoidError:
        return None


class _Court:
    """Judge entries one by one under a chain of policies."""

    def __init__(self, pinned: str, chain: Chain, offered: Mapping[str, Offered], links: Links) -> None:
        self._pinned = pinned
        self._versions = {one.digest: one for one in chain.versions}
        self._order = chain.versions
        self._offered = offered
        self._links = links
        self._known = {key for one in chain.versions for key in one.holders}
        last = chain.versions[-1].policy if chain.versions else None
        self._revoked = frozenset(last.revoked) if last is not None else frozenset()
        self._upheld = frozenset(last.upheld) if last is not None else frozenset()
        bits = {entry: 1 << one.policy.version for one in chain.versions for entry in one.signatures}
        self._reach = Reach(links, bits)

    def judge(self, tag: Tag) -> None:
        """Return for an entry that counts; VoidError names the first rule it breaks."""
        if tag.payload.ledger != self._pinned:
            raise VoidError("ledger", f"signed for the ledger {tag.payload.ledger[:12]}")
        if isinstance(tag.payload, PolicySignature):
            self._judge_signature(tag, tag.payload)
        else:
            self._judge_decision(tag, tag.payload)

    def _judge_signature(self, tag: Tag, payload: PolicySignature) -> None:
        version = self._versions.get(payload.policy)
        if version is not None:
            if tag.id not in version.signatures:
                raise VoidError("root", "not by a root approver who had seen the policy before it")
            return
        last = self._order[-1] if self._order else None
        waiting = self._offered.get(payload.policy)
        if last is None or waiting is None or not chains.successors(last, [waiting]):
            raise VoidError("policy", "the policy that it agrees to follows none that is in force")
        if not chains.is_root(tag, last.policy, last.holders):
            raise VoidError("root", "not by a root approver of the policy in force")
        self._check_signed(tag)

    def _judge_decision(self, tag: Tag, payload: Decision) -> None:
        if payload.key not in self._known:
            raise VoidError("unknown-key", f"no policy lists {payload.key}")
        cited = self._versions.get(payload.policy)
        if cited is None:
            raise VoidError("policy", f"the policy {payload.policy[:12]} was never in force")
        if cited.holders.get(payload.key) != payload.principal:
            raise VoidError("principal", f"the cited policy does not give this key to {payload.principal}")
        self._check_signed(tag)
        if not self._reach.of(tag.id) & 1 << cited.policy.version:
            raise VoidError("descent", "it does not descend from a signature of the policy that it cites")
        for later in self._order[cited.policy.version :]:
            if later.holders.get(payload.key) != payload.principal and tag.id not in later.closure:
                version = later.policy.version
                raise VoidError("removed", f"version {version} took this key from {payload.principal}")
        if payload.key in self._revoked and tag.id not in self._upheld:
            raise VoidError("revoked", f"the key {payload.key} is revoked")

    def _check_signed(self, tag: Tag) -> None:
        if not self._links.is_authentic(tag.id):
            raise VoidError("signature", f"{tag.payload.key} did not sign these bytes")

    def broken(self, found: Collection[Tag], entries: Mapping[str, Tag]) -> Iterator[Problem]:
        """Find what shows that a policy was taken away: somebody in office cites one that is gone."""
        if not self._order:
            return
        last = self._order[-1]
        for tag in found:
            digest = tag.payload.policy
            in_office = last.holders.get(tag.payload.key) == tag.payload.principal
            if tag.id in entries or not in_office or tag.payload.ledger != self._pinned:
                continue
            if not self._is_placed(digest) and self._links.is_authentic(tag.id):
                words = f"it cites the policy {digest[:12]}, which is gone"
                yield Problem("", tag.ref, "policy-missing", words)

    def _is_placed(self, digest: str) -> bool:
        offered = self._offered.get(digest)
        return digest in self._versions or (
            offered is not None and offered.policy.prev_policy in {"", *self._versions}
        )


def _missing(entries: Mapping[str, Tag], links: Links) -> Iterator[Problem]:
    for tag in entries.values():
        named = tag.payload.prev
        if isinstance(tag.payload, Decision):
            named = (*named, *tag.payload.supersedes)
        yield from (_gone(one, f"is named by {tag.id}") for one in named if not links.is_authentic(one))


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
