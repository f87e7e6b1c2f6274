"""The redactor: numbers distinct secrets over one recording and splices markers in.

The gap this closes: a marker that hides everything makes two different keys look
alike, and one derived from the secret can be guessed from. The decision: a secret
is numbered by first appearance, equal secrets share a number and a marker
(`[REDACTED:<rule>:<n>]`, the rule that saw it first), whatever the machine and the
key. To know a secret again without keeping it, the state holds keyed digests
only, and the key stays out of the state: a cache can be stored and cannot be
searched for a guessed password.

A marker that the source already holds is text like any other: it is no secret,
stays as it is, and neither takes nor moves a number. A transcript may so carry a
marker that we did not write; it can claim to be equal to a secret, but it can
hide none, since rules look inside it too.

What this does not do: it knows no file and no format. Whoever feeds it lines may
skip every block of which `sieve.may_fire` says no.
"""

import re
from hashlib import blake2b

import msgspec

from githarness.errors import UnreadableError
from githarness.redact import rules, scan, sieve
from githarness.redact.rules import RULES_VERSION
from githarness.redact.scan import Edit

# Text inside JSON inside JSON … each level doubles the backslashes, so real
# transcripts have three. Deeper levels are redacted as text.
MAX_DEPTH = 8
# A redacted text is looked at again until nothing fires, so that redacting twice
# changes nothing. Two looks are the rule; what needs more than this is one secret.
ROUNDS = 4
UNSETTLED = "unsettled"

_MAY_BE_JSON = re.compile(r'\s*[\[{"]')


class Redactor(msgspec.Struct, kw_only=True, dict=True):
    """The state of one recording's redaction; encodable, and then without its key.

    `counts` has the markers written per rule, `spared` the rules that would have
    fired in something that is never touched, `unparsed` the records that were not
    JSON and were redacted as text.
    """

    seen: dict[str, int] = {}
    names: list[str] = []
    counts: dict[str, int] = {}
    spared: dict[str, int] = {}
    unparsed: int = 0
    version: int = RULES_VERSION
    proof: str = ""

    @classmethod
    def open(cls, key: bytes) -> "Redactor":
        """Start a recording; `key` is the caller's secret and changes no output."""
        redactor = cls()
        redactor.__dict__["key"] = blake2b(key).digest()
        redactor.proof = redactor._digest("githarness redaction state")
        return redactor

    @classmethod
    def resume(cls, state: bytes, key: bytes) -> "Redactor":
        """Continue from `snapshot`; another key, rule set or a damaged state is refused."""
        try:
            redactor = msgspec.msgpack.decode(state, type=cls)
        except msgspec.DecodeError as error:
            raise UnreadableError(f"redaction state: {error}") from error
        fresh = cls.open(key)
        if redactor.version != RULES_VERSION or redactor.proof != fresh.proof:
            raise UnreadableError("redaction state: made with another key or older rules")
        redactor.__dict__["key"] = fresh.__dict__["key"]
        return redactor

    def snapshot(self) -> bytes:
        """Give the state as bytes, without the key and without any secret."""
        return msgspec.msgpack.encode(self)

    def feed(self, raw: bytes) -> bytes:
        """Redact one record, document or text; give the same object when nothing fired."""
        edits = self.edits(raw)
        if not edits:
            return raw
        for _ in range(ROUNDS):
            raw = scan.splice(raw, edits)
            if not Redactor.open(b"").edits(raw):
                return raw
            edits = self.edits(raw)
        raise UnreadableError("a record could not be redacted: each marker uncovers a further secret")

    def edits(self, raw: bytes) -> list[Edit]:
        """Give the replacements `(start, end, bytes)` that redact `raw`, in order.

        In JSON each covers one string literal; a text has one that covers it all.
        Markers are numbered and counted here, so ask once for each record.
        """
        if scan.is_json(raw):
            return self._document(raw, "", 0)
        self.unparsed += 1 if raw.strip() else 0
        if not sieve.may_fire(raw):
            return []
        text = raw.decode("utf-8", "surrogateescape")
        settled = self._settled(text, "", MAX_DEPTH)
        return [] if settled == text else [(0, len(raw), settled.encode("utf-8", "surrogateescape"))]

    def text(self, value: str) -> str:
        """Redact one plain string: a title, a file name, an error message."""
        return self._settled(value, "", 0)

    def _document(self, raw: bytes, key: str, depth: int) -> list[Edit]:
        if not key and not sieve.may_fire(raw):
            return []
        edits: list[Edit] = []
        for literal in scan.touched(raw, sieve.places(raw), key):
            source = raw[literal.start : literal.end]
            text = scan.decode(source)
            if literal.is_kept:
                self._spare(text)
                continue
            settled = self._identity(text) if literal.is_id else self._settled(text, literal.key, depth)
            if settled != text:
                edits.append((literal.start, literal.end, scan.encode(settled, ascii_only=source.isascii())))
        return edits

    def _identity(self, text: str) -> str:
        """Redact what a vendor's rule finds in an id; what other rules find is spared."""
        hits = rules.find(text, "")
        for hit in hits:
            if not rules.is_vendor(hit.rule):
                self.spared[hit.rule] = self.spared.get(hit.rule, 0) + 1
        return self._marked(text, [hit for hit in hits if rules.is_vendor(hit.rule)])

    def _settled(self, text: str, key: str, depth: int) -> str:
        for _ in range(ROUNDS):
            inner = self._inner(text, key, depth)
            if inner is not None:
                return inner
            hits = rules.find(text, key)
            if not hits:
                return text
            text = self._marked(text, hits)
        return self._marker(UNSETTLED, text)

    def _inner(self, text: str, key: str, depth: int) -> str | None:
        """Redact JSON that a string holds; None when it holds none."""
        if depth >= MAX_DEPTH or _MAY_BE_JSON.match(text) is None:
            return None
        raw = text.encode("utf-8", "surrogatepass")
        if not scan.is_json(raw):
            return None
        secret_key = key if rules.is_secret_key(key) else ""
        return scan.splice(raw, self._document(raw, secret_key, depth + 1)).decode("utf-8", "surrogatepass")

    def _marked(self, text: str, hits: list[rules.Hit]) -> str:
        pieces: list[str] = []
        done = 0
        for hit in hits:
            pieces += [text[done : hit.start], self._marker(hit.rule, hit.secret)]
            done = hit.end
        return "".join([*pieces, text[done:]])

    def _marker(self, rule: str, secret: str) -> str:
        number = self.seen.setdefault(self._digest(secret), len(self.names) + 1)
        if number > len(self.names):
            self.names.append(rule)
        shown = self.names[number - 1]
        self.counts[shown] = self.counts.get(shown, 0) + 1
        return f"[REDACTED:{shown}:{number}]"

    def _spare(self, text: str) -> None:
        for hit in rules.find(text, ""):
            self.spared[hit.rule] = self.spared.get(hit.rule, 0) + 1

    def _digest(self, secret: str) -> str:
        key = self.__dict__.get("key")
        if key is None:
            raise UnreadableError("redaction state: opened without its key")
        return blake2b(secret.encode("utf-8", "surrogatepass"), key=key, digest_size=16).hexdigest()


def fired(data: bytes) -> tuple[str, ...]:
    """Name the rules that fire anywhere in `data`, sorted; also in what is never touched."""
    if not sieve.may_fire(data):
        return ()
    redactor = Redactor.open(b"")
    redactor.edits(data)
    return tuple(sorted({*redactor.names, *redactor.spared}))
