"""Signing an entry of the ledger: with a key that a policy can list, checked before it is kept.

The gap this closes: a signature that turns out not to verify once it is pushed. The
decision: the finished tag is read and verified as a stranger would, and only then does
its ref exist. What this does not do: it is no verb, and reads no private key.
"""

from collections.abc import Mapping
from pathlib import Path

from githarness.commands import governed
from githarness.commands.governed import Harness
from githarness.errors import RefusedError
from githarness.govern import keys, payload, tag
from githarness.govern.keys import Key
from githarness.govern.void import VoidError
from githarness.store import signing, tags
from githarness.store.objects import Store


def own_key(key: Path, env: Mapping[str, str]) -> Key:
    """Return the public half of a key to sign with; RefusedError for one that no policy can list."""
    try:
        return keys.parse(signing.public_key(key, env=env))
    except VoidError as error:
        raise RefusedError(
            f"{key} cannot sign here: {error.reason}", hint="ssh-keygen -t ed25519, then --key FILE"
        ) from error


def sign(
    store: Store, target: str, words: payload.Payload, *, key: Path, now: int, env: Mapping[str, str]
) -> str:
    """Sign a payload, check the finished tag as a stranger would, and create its ref."""
    unsigned = tag.unsigned(target, words, now)
    try:
        data = tag.assemble(unsigned, signing.sign(key, unsigned, env=env))
        ref = tag.ref_of(words)
        tag.parse(ref, data)
    except VoidError as error:
        raise RefusedError(
            f"the signature that {key} made does not verify: {error.reason}",
            hint="ssh-keygen -Y sign must use an ed25519 or ecdsa-p256 key of the policy",
        ) from error
    tags.create(store, ref, data)
    return ref


def restore(harness: Harness) -> frozenset[str]:
    """Write again the tags of decisions that stand on main alone.

    Returns the files on main whose tag could not be, since something else stands in its
    place: they are the last copy.
    """
    ledger, _, _ = governed.require(harness)
    only: set[str] = set()
    for name in ledger.lost:
        entry = ledger.entries[name]
        try:
            tags.create(harness.store, entry.ref, entry.data)
        except RefusedError:
            only.add(tag.file_of_ref(entry.ref))
    return frozenset(only)
