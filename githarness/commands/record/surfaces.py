"""Keeping surfaces and prompts: bytes once, a sighting per source, secrets withheld.

The gap this closes: a digest of altered bytes is the digest of something that was
never sent. The decision: a surface or prompt in which a redaction rule fires keeps
its digest and loses its bytes, so that comparing still works and rebuilding says
why it cannot. What this does not do: it never redacts one.
"""

from pathlib import Path

import msgspec

from githarness import canon
from githarness.capture import folder
from githarness.capture import source as sources
from githarness.commands.record.result import Item
from githarness.errors import MissingError, UnreadableError
from githarness.formats import surface as surface_format
from githarness.model import sighting
from githarness.model.manifest import Cited
from githarness.model.session import Prompt
from githarness.model.sighting import Sighting, Tool
from githarness.model.surface import SENT, Surface
from githarness.redact import redactor as redaction
from githarness.redact.redactor import Redactor
from githarness.store import layout, runs
from githarness.store.objects import Store
from githarness.store.writer import Writer

_SHOWN = 64


class Keeper:
    """Hands surfaces and prompts to the writer; `now` is in seconds since 1970."""

    def __init__(self, store: Store, writer: Writer, now: int) -> None:
        self._store = store
        self._writer = writer
        self._now = now
        self._seen: set[str] = set()
        self.items: list[Item] = []

    def surface(self, surface: Surface, source: str, name: str) -> tuple[str, ...]:
        """Keep a surface met at `source`, and list it once; return the rules that withhold its bytes."""
        withheld = redaction.fired(surface.raw)
        path = sighting_path(surface, source)
        if path not in self._seen:
            self._seen.add(path)
            self.items.append(self._item(surface, path, name, withheld))
        if not withheld:
            self._writer.surface(surface.raw)
        seen = _sighting(surface, source, self._now, withheld)
        self._writer.revise(path, lambda old: _merged(old, seen))
        return withheld

    def _kept(self, digest: str) -> Cited:
        """Cite a surface of the store as it was met: withheld stays withheld."""
        met = runs.seen(self._store, digest)
        sent = next((one for one in met if one.kind == SENT), met[0])
        return Cited(
            position=0,
            digest=digest,
            kind=SENT,
            reconstructed=sent.reconstructed,
            withheld=bool(sent.withheld),
        )

    def _item(self, surface: Surface, path: str, name: str, withheld: tuple[str, ...]) -> Item:
        item = Item(
            kind="surface",
            id=surface.wire,
            path=name,
            format=surface.dialect,
            status="new" if self._store.read(path) is None else "unchanged",
            surface=surface.wire,
            tools=len(surface.specs),
        )
        if withheld:
            item.notes.append(f"bytes withheld, a secret was found in them ({', '.join(withheld)})")
        return item

    def prompt(self, prompt: Prompt) -> Cited:
        """Keep a system prompt; return the citation."""
        digest = canon.sha256(prompt.raw)
        withheld = bool(redaction.fired(prompt.raw))
        if not withheld:
            self._writer.prompt(prompt.raw)
        return Cited(position=prompt.position, digest=digest, withheld=withheld)

    def person_cites(self, words: str, source: str) -> Cited:
        """Resolve `--surface`: a file or a folder of tools, which is kept too, else a kept one's digest."""
        if not _is_there(words):
            matches = self._store.find(words, (layout.SIGHTINGS,))
            if len(matches) != 1:
                raise MissingError(
                    f"--surface {words[:_SHOWN]}: no such file, and {len(matches)} surfaces by that digest",
                    hint="githarness log --surfaces",
                )
            return self._kept(matches[0])
        found = _read(Path(words))
        if len(found) != 1:
            raise UnreadableError(
                f"--surface {words}: holds {len(found)} tools arrays, not one",
                hint="give a file with one tools array, or one request body",
            )
        sent = msgspec.structs.replace(found[0], kind=SENT)
        return Cited(position=0, digest=sent.wire, withheld=bool(self.surface(sent, source, words)))


def _is_there(words: str) -> bool:
    try:
        return Path(words).exists()
    except (OSError, ValueError) as error:
        raise UnreadableError(
            f"--surface {words[:_SHOWN]}: cannot be looked at ({getattr(error, 'strerror', '') or error})",
            hint="give a file or folder that you may read, or the digest of a recorded surface",
        ) from error


def _read(path: Path) -> list[Surface]:
    if path.is_dir():
        return [folder.surface(path)]
    return surface_format.read(sources.file(path).read())


def sighting_path(surface: Surface, source: str) -> str:
    """Return where the sighting of `surface` at `source` is kept."""
    return layout.sighting(surface.wire, sighting.key(surface.kind, source))


def _sighting(surface: Surface, source: str, now: int, withheld: tuple[str, ...]) -> Sighting:
    pairs = zip(surface.specs, surface.digests, strict=True)
    # the secret may be in a name, and a name is all that is kept of a withheld surface
    clean = Redactor.open(surface.raw[:64]).text if withheld else str
    return Sighting(
        surface=surface.wire,
        kind=surface.kind,
        source=source,
        first=now,
        dialect=surface.dialect,
        bytes=len(surface.raw),
        reconstructed=surface.reconstructed,
        semantic=surface.semantic,
        fnv=surface.fnv,
        tools=tuple(
            Tool(name=canon.utf8(clean(spec.name)).decode(), digest=digest) for spec, digest in pairs
        ),
        withheld=withheld,
    )


def _merged(old: bytes | None, new: Sighting) -> bytes | None:
    if old is None:
        return canon.encode(new)
    try:
        return canon.encode(sighting.merge(sighting.decode(old), new))
    except UnreadableError:
        return None  # what a later version wrote is left as it is
