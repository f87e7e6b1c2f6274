"""Parameters of an object schema: added, removed, renamed, required or not.

The gap this closes: whether a recorded call still works depends on a name in two lists
(`properties` and `required`), and a comparison of either alone gets it wrong. The
decision: both lists are read together, one finding per parameter, each with the edits
it alone needs, so that its effect on recorded calls can be measured by applying it.

What it does not do: it does not look into the schema of a parameter that stayed; the
walk does.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import UNSET

from githarness.measure.changes import likeness
from githarness.measure.changes.change import Edit, Finding
from githarness.measure.changes.edits import ADD, DROP, PRUNE, RENAME, SET
from githarness.measure.changes.site import Site, put, reordered, unlike, value


class Listing(msgspec.Struct, frozen=True, kw_only=True):
    """The two lists of one side; `required` is None where it is no list of distinct names."""

    schema: dict[str, Any]
    properties: dict[str, Any]
    required: list[str] | None

    def requires(self, name: str) -> bool:
        """Tell whether a name is listed, also in a list that is not readable as one."""
        declared = self.schema.get("required")
        return isinstance(declared, list) and name in declared


def listing(schema: dict[str, Any]) -> Listing:
    """Read the lists of an object schema; a `properties` that is no object holds none."""
    properties = schema.get("properties")
    required = schema.get("required", [])
    readable = (
        isinstance(required, list)
        and all(isinstance(name, str) for name in required)
        and max(Counter(required).values(), default=1) == 1
    )
    return Listing(
        schema=schema,
        properties=properties if isinstance(properties, dict) else {},
        required=required if readable else None,
    )


class Pairing(msgspec.Struct, frozen=True, kw_only=True):
    """Which parameter is which: `kept` maps every surviving name to its new name."""

    before: Listing
    after: Listing
    kept: dict[str, str]
    gone: tuple[str, ...]
    new: tuple[str, ...]


def paired(before: dict[str, Any], after: dict[str, Any]) -> Pairing:
    """Pair the parameters of two object schemas, by name and then by likeness."""
    left, right = listing(before), listing(after)
    gone = {name: schema for name, schema in left.properties.items() if name not in right.properties}
    new = {name: schema for name, schema in right.properties.items() if name not in left.properties}
    # A name that is required on the side where it has no schema is no new name.
    renamed = likeness.parameters(
        {name: schema for name, schema in gone.items() if not right.requires(name)},
        {name: schema for name, schema in new.items() if not left.requires(name)},
    )
    kept = {name: renamed.get(name, name) for name in left.properties if name not in gone or name in renamed}
    return Pairing(
        before=left,
        after=right,
        kept=kept,
        gone=tuple(name for name in gone if name not in renamed),
        new=tuple(name for name in new if name not in renamed.values()),
    )


def findings(pairing: Pairing, site: Site) -> Iterator[Finding]:
    """Yield what happened to each parameter, then to the order of both lists."""
    for was, now in pairing.kept.items():
        yield from _stayed(pairing, site, was, now)
    for name in pairing.gone:
        yield _removed(pairing, site, name)
    for name in pairing.new:
        yield _added(pairing, site, name)
    yield from _named_only(pairing, site)
    yield from _containers(pairing, site)
    yield from _order(pairing, site)


def _stayed(pairing: Pairing, site: Site, was: str, now: str) -> Iterator[Finding]:
    if was != now:
        rename = Edit(path=(*site.path, "properties"), op=RENAME, key=was, value=now)
        edits = (rename, *_respelled(pairing, site, was, now))
        yield site.at("properties", was).finding(
            "param.renamed", was=was, now=now, edits=edits, param=now, param_was=was
        )
    if pairing.before.requires(was) != pairing.after.requires(now):
        edits = _requirement(pairing, site, was, now)
        yield _listed(site, (was, now), edits, required=pairing.after.requires(now))


def _listed(site: Site, names: tuple[str, str], edits: tuple[Edit, ...], *, required: bool) -> Finding:
    """Make the finding of a parameter that came to stand in `required`, or no longer does."""
    return site.finding(
        "param.became_required" if required else "param.became_optional",
        "required",
        was=UNSET if required else names[0],
        now=names[1] if required else UNSET,
        edits=edits,
        param=names[1],
        param_was=names[0],
    )


def _removed(pairing: Pairing, site: Site, name: str) -> Finding:
    edits = [Edit(path=(*site.path, "properties"), op=DROP, key=name)]
    if "properties" not in pairing.after.schema:
        edits.append(Edit(path=site.path, op=PRUNE, key="properties"))
    edits.extend(_requirement(pairing, site, name, None))
    was = pairing.before.properties[name]
    return site.at("properties", name).finding(
        "param.removed", was=was, edits=tuple(edits), param=name, param_was=name
    )


def _added(pairing: Pairing, site: Site, name: str) -> Finding:
    cls = "param.added.required" if pairing.after.requires(name) else "param.added.optional"
    schema = pairing.after.properties[name]
    at = list(pairing.after.properties).index(name)
    edits = (
        *_container(pairing, site, "properties", {}),
        Edit(path=(*site.path, "properties"), op=ADD, key=name, value=schema, at=at),
        *_requirement(pairing, site, None, name),
    )
    return site.at("properties", name).finding(cls, now=schema, edits=edits, param=name)


def _named_only(pairing: Pairing, site: Site) -> Iterator[Finding]:
    """Names that are required and have no schema on either side are parameters all the same."""
    if pairing.before.required is None or pairing.after.required is None:
        return
    before, after = pairing.before.required, pairing.after.required
    old, new = {*pairing.kept, *pairing.gone}, {*pairing.kept.values(), *pairing.new}
    for name in before:
        if name not in old and name not in after:
            yield _listed(site, (name, name), _requirement(pairing, site, name, None), required=False)
    for name in after:
        if name not in new and name not in before:
            yield _listed(site, (name, name), _requirement(pairing, site, None, name), required=True)


def _requirement(pairing: Pairing, site: Site, was: str | None, now: str | None) -> tuple[Edit, ...]:
    """Return the edits of `required` for one parameter; none where a list is not readable."""
    before, after = pairing.before.required, pairing.after.required
    if before is None or after is None:
        return ()
    path = (*site.path, "required")
    if was is not None and was in before and (now or was) not in after:
        drop = Edit(path=path, op=DROP, key=before.index(was))
        gone = "required" not in pairing.after.schema
        return (drop, Edit(path=site.path, op=PRUNE, key="required")) if gone else (drop,)
    if now is not None and now in after and was not in before and now not in before:
        add = Edit(path=path, op=ADD, value=now, at=after.index(now))
        return (*_container(pairing, site, "required", []), add)
    return ()


def _respelled(pairing: Pairing, site: Site, was: str, now: str) -> tuple[Edit, ...]:
    before, after = pairing.before.required, pairing.after.required
    if before is None or after is None or was not in before or now not in after:
        return ()
    return (Edit(path=(*site.path, "required"), op=SET, key=before.index(was), value=now),)


def _container(pairing: Pairing, site: Site, key: str, empty: Any) -> tuple[Edit, ...]:
    """Return the edit that makes a list which the first side does not have."""
    if key in pairing.before.schema:
        return ()
    return (Edit(path=site.path, op=ADD, key=key, value=empty, at=list(pairing.after.schema).index(key)),)


def _containers(pairing: Pairing, site: Site) -> Iterator[Finding]:
    """An empty list beside none is other bytes with the same meaning; an unreadable one is told whole."""
    before, after = pairing.before.schema, pairing.after.schema
    unreadable = None in (pairing.before.required, pairing.after.required)
    for key in ("properties", "required"):
        was, now = value(before, key), value(after, key)
        if not unlike(was, now):
            continue
        if key == "required" and unreadable:
            yield site.finding(
                "other.changed", key, was=was, now=now, edits=put(site.path, before, after, key)
            )
        elif not was and not now:
            yield site.finding("format.only", key, was=was, now=now, edits=put(site.path, before, after, key))


def _order(pairing: Pairing, site: Site) -> Iterator[Finding]:
    survivors = [pairing.kept[name] for name in pairing.before.properties if name in pairing.kept]
    staying = set(survivors)
    after = [name for name in pairing.after.properties if name in staying]
    yield from reordered(site.at("properties"), survivors, after)
    if pairing.before.required is None or pairing.after.required is None:
        return
    known = {pairing.kept.get(name, name): at for at, name in enumerate(pairing.before.required)}
    staying = set(known) & set(pairing.after.required)
    was = [at for name, at in known.items() if name in staying]
    now = [known[name] for name in pairing.after.required if name in staying]
    yield from reordered(site.at("required"), was, now, pairing.before.required)
