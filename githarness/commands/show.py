"""show: one run call by call, one surface tool by tool, or the exact bytes.

What it closes: a digest in a list is no evidence until its bytes can be seen. The
decision: read back from the store, hashed again, and reduced by the same reader that
recorded it; a digest that is not there is absent, never an empty surface. What it
does not do: it shows nothing of a client's own files.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from githarness.commands import inputs
from githarness.errors import OK, MissingError
from githarness.formats import surface as surface_format
from githarness.measure import counters
from githarness.model.manifest import Run, Stats
from githarness.model.session import Call
from githarness.store import layout, runs
from githarness.store.objects import Store


class ShownCall(msgspec.Struct, frozen=True, kw_only=True):
    """One call; `output` is None when no result was recorded, `cause` None on success."""

    step: int
    name: str
    input: Any
    output: str | None
    is_error: bool | None
    cause: str | None
    malformed: bool | None


class RunResult(msgspec.Struct, frozen=True, kw_only=True):
    """A run: its manifest, and its trajectory as read from the stored bytes.

    `final_text` is the last text of the model, wherever it stands; `calls_after_text`
    says how many calls came after it, None where there is no text.
    """

    id: str
    agent: str
    format: str
    model: str | None
    surface: str | None
    state: dict[str, Any] | None
    parent: str | None
    steps: int
    stats: Stats
    steered: bool
    turns: tuple[str, ...]
    final_text: str | None
    calls_after_text: int | None
    calls: tuple[ShownCall, ...]
    manifest: Run

    @property
    def exit_code(self) -> int:
        """Always 0: what is missing is raised."""
        return OK


class ShownTool(msgspec.Struct, frozen=True, kw_only=True):
    """One tool; a description or schema that is absent is None, not empty."""

    name: str
    description: str | None
    input_schema: Any
    rest: dict[str, Any]
    digest: str


class SurfaceResult(msgspec.Struct, frozen=True, kw_only=True):
    """A surface; `tools` has names and digests only where the bytes are withheld."""

    id: str
    semantic: str
    fnv: str
    dialect: str
    kinds: tuple[str, ...]
    sources: tuple[str, ...]
    withheld: tuple[str, ...]
    tools: tuple[ShownTool, ...]

    @property
    def exit_code(self) -> int:
        """Always 0: what is missing is raised."""
        return OK


class PromptResult(msgspec.Struct, frozen=True, kw_only=True):
    """A system prompt, as text."""

    id: str
    text: str

    @property
    def exit_code(self) -> int:
        """Always 0: what is missing is raised."""
        return OK


def raw(store: Store, prefix: str) -> Iterator[bytes]:
    """Yield the exact stored bytes of a run's recording, a surface or a prompt, in pieces."""
    area, name = runs.resolve(store, prefix)
    if area == layout.RUNS:
        return runs.parts(store, runs.manifest(store, name))
    return iter([_exact(store, area, name)])


def _exact(store: Store, area: str, name: str) -> bytes:
    data = store.read(layout.surface(name) if area == layout.SURFACES else layout.prompt(name))
    if data is None:
        what = f"surface {name[:12]}" if area == layout.SURFACES else "such a prompt"
        raise MissingError(
            f"the bytes of {name[:12]} are withheld, since a secret was found in them",
            hint=f"its digest is all that is kept of {what}; githarness show ID says what else is known",
        )
    return data


def run(store: Store, prefix: str) -> RunResult | SurfaceResult | PromptResult:
    """Show whatever `prefix` names."""
    area, name = runs.resolve(store, prefix)
    if area == layout.RUNS:
        return _run(store, runs.manifest(store, name))
    if area == layout.SURFACES:
        return _surface(store, name)
    return PromptResult(id=name, text=_exact(store, area, name).decode("utf-8", "backslashreplace"))


def _run(store: Store, manifest: Run) -> RunResult:
    session = inputs.stored_session(store, manifest)
    cited = manifest.surfaces
    return RunResult(
        id=manifest.id,
        agent=manifest.agent,
        format=manifest.recording.format,
        model=session.models[-1] if session.models else None,
        surface=cited[0].digest if isinstance(cited, tuple) and cited else None,
        state=manifest.state,
        parent=manifest.parent,
        steps=session.steps,
        stats=counters.count(session),
        steered=session.steered,
        turns=tuple(turn.text for turn in session.turns),
        final_text=session.final_text,
        calls_after_text=session.calls_after_text if session.final_text is not None else None,
        calls=tuple(map(_call, session.calls)),
        manifest=manifest,
    )


def _call(call: Call) -> ShownCall:
    same = {name: getattr(call, name) for name in ShownCall.__struct_fields__}
    return ShownCall(**same)


def _surface(store: Store, digest: str) -> SurfaceResult:
    seen = runs.seen(store, digest)
    data = runs.surface(store, digest)
    if data is not None:
        surface = surface_format.lower(data)
        semantic, fnv, dialect = surface.semantic, surface.fnv, surface.dialect
        pairs = zip(surface.specs, surface.digests, strict=True)
        tools = [
            ShownTool(
                name=spec.name, description=spec.description, input_schema=spec.input_schema, rest=spec.rest,
                digest=own,
            )
            for spec, own in pairs
        ]  # fmt: skip
    elif seen:
        semantic, fnv, dialect = seen[0].semantic, seen[0].fnv, seen[0].dialect
        tools = [
            ShownTool(name=tool.name, description=None, input_schema=None, rest={}, digest=tool.digest)
            for tool in seen[0].tools
        ]
    else:
        raise MissingError(f"no surface {digest[:12]} in the store", hint="githarness log --surfaces")
    return SurfaceResult(
        id=digest,
        semantic=semantic,
        fnv=fnv,
        dialect=dialect,
        kinds=tuple(sorted({one.kind for one in seen})),
        sources=tuple(sorted({one.source for one in seen})),
        withheld=tuple(sorted({rule for one in seen for rule in one.withheld})) if data is None else (),
        tools=tuple(tools),
    )
