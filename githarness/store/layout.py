"""Names: every ref, path and file name of a store, and nothing else.

The gap this closes: a name that is built where it is used is validated nowhere,
and a digest read from a manifest that says `../../config` becomes a path. The
decision: a path is only ever made here, from hex that matched in full, with two
levels of fan-out. At 100,000 files one level rewrites 44 KB of tree per record,
two levels 15 KB, and a flat folder 9.6 MB.

What it does not do: it touches no disk, and does not know what the files hold.
"""

import re

from githarness.errors import UsageError

MAIN = "refs/heads/main"
RECORDINGS = "refs/heads/recordings"
PROPOSALS = "refs/heads/proposals/"
LEDGER = "refs/tags/githarness/v1/"

SURFACES = "surfaces"
PROMPTS = "prompts"
PARTS = "recordings"
RUNS = "runs"
SIGHTINGS = "sightings"
PURGED = "purged"
# Areas whose file name is the SHA-256 of the file's own bytes.
ADDRESSED = (SURFACES, PROMPTS, PARTS)

ATTRIBUTES = ".gitattributes"
# No conversion may stand between the bytes of a digest and a work tree.
ATTRIBUTES_TEXT = b"* -text -ident -filter -working-tree-encoding\n"

# On main. Knobs, overlay and tools are named by what they hold, so they are spelled
# where that is known.
HARNESS = "harness.toml"
MUTATIONS = "mutations"
DECISIONS = "decisions"

# Files beside git's own in the folder of the store.
WRITE_LOCK = "githarness.lock"
TIDY_LOCK = "githarness-tidy.lock"

_HEX64 = re.compile("[0-9a-f]{64}")
_HEX32 = re.compile("[0-9a-f]{32}")
_PREFIX = re.compile("[0-9a-f]{1,64}")
_LEDGER_TAG = re.compile(f"{LEDGER}(decision|policy)/[0-9a-f]{{64}}/[0-9a-f]{{32}}")
_SAFE_PATH = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*")


def surface(digest: str) -> str:
    """Return the path of the surface whose bytes have this SHA-256."""
    return _fan(SURFACES, _digest(digest), ".json")


def prompt(digest: str) -> str:
    """Return the path of the system prompt whose bytes have this SHA-256."""
    return _fan(PROMPTS, _digest(digest), ".txt")


def part(digest: str) -> str:
    """Return the path of the part of a recording whose bytes have this SHA-256."""
    return _fan(PARTS, _digest(digest), "")


def run(run_id: str) -> str:
    """Return the path of the manifest of one run."""
    return _fan(RUNS, _id(run_id), ".json")


def sighting(surface_digest: str, key: str) -> str:
    """Return the path of what is known about a surface at one place; `key` is 32 hex digits."""
    return f"{sightings(surface_digest)}/{_id(key)}.json"


def sightings(surface_digest: str) -> str:
    """Return the folder of everything that is known about when a surface was met."""
    return _fan(SIGHTINGS, _digest(surface_digest), "")


def purged(digest: str) -> str:
    """Return the path of the tombstone of a purged file."""
    return _fan(PURGED, _digest(digest), "")


def mutation(digest: str) -> str:
    """Return the path on main of the mutation document whose bytes have this SHA-256."""
    return f"{MUTATIONS}/{_digest(digest)}.json"


def decision(fingerprint: str, entry: str) -> str:
    """Return the path on main of the bytes of a decision's tag; `entry` is the entry's id."""
    return f"{DECISIONS}/{_digest(fingerprint)}/{_entry(entry)}"


def proposal_ref(fingerprint: str) -> str:
    """Return the branch of the proposal of the mutation with this fingerprint."""
    return f"{PROPOSALS}{_digest(fingerprint)}"


def proposal_of(ref: str) -> str | None:
    """Return the fingerprint that a branch is the proposal of; None for any other ref."""
    name = ref.removeprefix(PROPOSALS)
    return name if ref.startswith(PROPOSALS) and _HEX64.fullmatch(name) else None


def decision_tag(fingerprint: str, entry: str) -> str:
    """Return the ref of a decision on the mutation with this fingerprint."""
    return f"{LEDGER}decision/{_digest(fingerprint)}/{_entry(entry)}"


def policy_tag(digest: str, entry: str) -> str:
    """Return the ref of a signature of the policy whose bytes have this SHA-256."""
    return f"{LEDGER}policy/{_digest(digest)}/{_entry(entry)}"


def is_ledger_tag(ref: str) -> bool:
    """Tell whether `ref` is a name that an entry of the ledger can have."""
    return _LEDGER_TAG.fullmatch(ref) is not None


def stem(path: str) -> str:
    """Return the hex name a path ends in, without its extension."""
    return path.rsplit("/", 1)[-1].split(".", 1)[0]


def is_addressed(path: str) -> bool:
    """Tell whether the name of the file at `path` must be the SHA-256 of its bytes."""
    return path.split("/", 1)[0] in ADDRESSED


def is_prefix(text: str) -> bool:
    """Tell whether `text` can be the beginning of an id or digest."""
    return _PREFIX.fullmatch(text) is not None


def check(path: str) -> str:
    """Return `path` when it is a plain relative path; UsageError for anything else."""
    if _SAFE_PATH.fullmatch(path) is None or path == ATTRIBUTES:
        raise UsageError(f"not a path of a store: {path[:80]!r}")
    return path


def _digest(text: str) -> str:
    if _HEX64.fullmatch(text) is None:
        raise UsageError(f"not a SHA-256 in lower-case hex: {text[:80]!r}")
    return text


def _id(text: str) -> str:
    if _HEX32.fullmatch(text) is None:
        raise UsageError(f"not an id of 32 hex digits: {text[:80]!r}", hint="see githarness log")
    return text


def _entry(text: str) -> str:
    if _HEX32.fullmatch(text) is None:
        raise UsageError(f"not an id of an entry of the ledger: {text[:80]!r}")
    return text


def _fan(area: str, name: str, extension: str) -> str:
    return f"{area}/{name[:2]}/{name[2:4]}/{name}{extension}"
