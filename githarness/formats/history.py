"""Histories that repeat: every request tells the whole conversation again, and it counts once.

The gap this closes: a run of n requests holds its first message n times, with the
cache marks moved, the thinking left out and the ids filled in, so neither bytes nor
positions tell what is new. The decision: every text, call and result has an identity
of its own, and the k-th occurrence of one within a request is new exactly when no
earlier request had k of them. Calls pair with results within the walk over one
request, by id and else by name and order within the last reply, so ids that a server
counts from zero in every message stay apart.

What it does not do: it keeps no text, only short digests, and it cannot tell two
separate conversations in one file apart where they begin with the same words.
"""

import hashlib
import re
from collections.abc import Iterable
from typing import Any

import msgspec

from githarness import canon
from githarness.formats.payload import spelled
from githarness.model.builder import Builder
from githarness.model.session import REFUSED, UNKNOWN

# Clients put whole elements with compound names (`<system-reminder>…`) into the user's
# place, and nobody types such a thing from its first character to its last.
_OPENED = re.compile(r"\s*<[a-z]+[-_ ][a-z_ -]+>")
_CLOSED = re.compile(r"</[a-z]+[-_ ][a-z_ -]+>\s*\Z")
# No element name is longer; an end is searched in this much, not in megabytes.
_END = 200
# How an API's calls are told apart: by an id that is never used twice, by name and
# arguments where an id may be filled in later, or by both where servers count ids anew.
BY_ID, BY_CONTENT, BY_BOTH = "id", "content", "both"
# 16 hex digits: 10^5 parts collide with a chance of 3 in 10^10.
_SHORT = 8


class History(msgspec.Struct, kw_only=True):
    """What has been told so far: plain data, so that a reader can be saved and resumed.

    `seen` counts occurrences by identity, `ids` names each call, `taken` counts uses
    of an id, `alias` is a call's other id, and `base` is what was told up to the request
    that `answers` replied to.
    """

    seen: dict[str, int] = {}
    ids: dict[str, str] = {}
    taken: dict[str, int] = {}
    alias: dict[str, str] = {}
    base: dict[str, int] = {}
    answers: str = ""


class Walk:
    """One pass over a request's history, then its response; only what is new reaches the builder."""

    def __init__(self, builder: Builder, history: History, *, goes_on: str | None = None) -> None:
        """Start at nothing, or, for a response without a request, after what it `goes_on` from."""
        self._builder = builder
        self._history = history
        self._counts: dict[str, int] = {}
        if goes_on is not None:
            again = goes_on != "" and goes_on == history.answers
            self._counts = dict(history.base if again else history.seen)
        self._open: list[tuple[int, str, str, str]] = []
        self._reply = 0
        self._response: str | None = None
        self._stepped = False
        self._told = False
        self._texts: list[str] = []
        self._waiting = False

    def is_new(self, *identity: str) -> bool:
        """Count one more occurrence, and tell whether no earlier walk had as many."""
        return self._occurred(*identity)[1]

    def reply(self, response: str | None = None) -> None:
        """A model response begins; it becomes a step when something in it is new."""
        self._flush()
        self._reply += 1
        self._response, self._stepped, self._told = response, False, False

    def say(self, text: object) -> None:
        """The model wrote text; pieces in a row are one text."""
        if isinstance(text, str) and text:
            self._texts.append(text)

    def call(
        self,
        native: object,
        name: object,
        input: Any,
        *,
        by: str,
        malformed: bool | None = False,
        also: object = None,
    ) -> None:
        """The model issued a call, told from others `by` its id, its content or both.

        `also` is a second id of it, under which a client may send it back.
        """
        self._flush()
        native, name = _text(native), _text(name)
        known = self._history.alias.get(native, native)
        told = [known] if by == BY_ID and known else [name, spelled(input)]
        place, new = self._occurred("call", known if by == BY_BOTH else "", *told)
        if new:
            self._history.ids[place] = self._fresh(known)
            self._step()
            self._builder.call(self._history.ids[place], name, input, malformed=malformed)
            if isinstance(also, str) and also != native:
                self._history.alias[also] = known
        self._open.append((self._reply, native, name, self._history.ids.get(place, native)))
        self._told, self._waiting = True, False

    def result(self, native: object, output: str, *, cause: str | None, name: object = "") -> None:
        """A result came back, for a call by id, or by name and order in the last reply.

        `cause` is None for a success; `unknown` leaves the error flag open.
        """
        self._flush()
        call = self._answered(_text(native), _text(name))
        if self.is_new("result", call):
            flag = None if cause == UNKNOWN else cause is not None
            self._builder.result(call, output, flag, cause)
            if cause == REFUSED:
                self._builder.malformed(call)
        self._waiting = True

    def hear(self, texts: Iterable[str]) -> None:
        """Text in the user's place, one message of it: what a person said is one turn."""
        self._flush()
        told = [text for text in texts if text.strip()]
        said = [text for text in told if not is_injected(text)]
        for text in told:
            if is_injected(text):
                self.inject(text)
        whole = "\n".join(said)
        if said and self.is_new("user", whole):
            if self._waiting:
                self._builder.steer()
            self._builder.turn(whole)

    def inject(self, text: str) -> None:
        """The harness spoke in a conversation that had begun."""
        if self.is_new("injected", text):
            self._builder.inject()

    def close(self, cause: str | None) -> None:
        """The response ended, with the stop cause it states; one that said nothing is a step too."""
        self._flush()
        if not self._told and self.is_new("empty", self._response or ""):
            self._step()
        if self._stepped and cause is not None:
            self._builder.stop(cause)

    def settle(self, response: str = "") -> None:
        """The history ends here, and `response` is the reply to it."""
        self._flush()
        self._history.base, self._history.answers = dict(self._counts), response

    def _occurred(self, *identity: str) -> tuple[str, bool]:
        key = _digest("\0".join(identity))
        count = self._counts.get(key, 0) + 1
        self._counts[key] = count
        new = count > self._history.seen.get(key, 0)
        if new:
            self._history.seen[key] = count
        return f"{key}#{count}", new

    def _flush(self) -> None:
        text = "".join(self._texts)
        self._texts.clear()
        if not text.strip():
            return
        self._told, self._waiting = True, False
        if self.is_new("model", text.strip()):
            self._step()
            self._builder.say(text)

    def _step(self) -> None:
        if not self._stepped:
            self._builder.step(self._response)
            self._stepped = True

    def _fresh(self, native: str) -> str:
        """Return an id that no other call of the session has."""
        uses = self._history.taken.get(native, 0)
        self._history.taken[native] = uses + 1
        return native if native and not uses else f"{native}#{uses}"

    def _answered(self, native: str, name: str) -> str:
        """Take the call that a result answers out of the open ones; an orphan keeps its id."""
        fits = [one for one in self._open if native and one[1] == native][-1:]
        if not fits and not (native and all(one[1] for one in self._open)):
            fits = [one for one in self._open if one[0] == self._reply and one[2] == (name or one[2])][:1]
        for one in fits:
            self._open.remove(one)
        return fits[0][3] if fits else native


def is_injected(text: str) -> bool:
    """Tell whether a client, and not a person, put a text into the user's place."""
    return _OPENED.match(text) is not None and _CLOSED.search(text[-_END:]) is not None


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _digest(text: str) -> str:
    return hashlib.blake2b(canon.utf8(text), digest_size=_SHORT).hexdigest()
