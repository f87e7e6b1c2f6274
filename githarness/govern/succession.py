"""Succession: making the first policy, and the next one from the one in force.

The gap this closes: a policy edited by hand is easily one that nobody can meet, that
skips a version, or that leaves a person who proposes alone with approving it. The
decision: each change is a function from a policy to the next version, checked as it is
made; the second principal ends self-approval everywhere; a revoked key leaves the
list in the same step.

What it does not do: it signs nothing. A next version is in force when the root
approvers of both versions have signed it (`chain`).
"""

from typing import Any

import msgspec
from pydantic import ValidationError

from githarness.errors import RefusedError
from githarness.govern import keys
from githarness.govern import policy as policies
from githarness.govern.policy import EVERY, Policy, Rule, Threshold
from githarness.govern.void import VoidError
from githarness.propose import fault

# What names the root rule where a component is asked for.
ROOT = "root"


class Place(msgspec.Struct, frozen=True):
    """Where a new version takes force, main's tip, and what makes it like no other."""

    main: str
    nonce: str


def first(principal: str, key: str, place: Place) -> Policy:
    """Make version 1: one principal, who may approve everything, also what they propose."""
    only = {"approvers": (principal,), "threshold": 1}
    return _made(
        {
            "version": 1,
            "prev_policy": "",
            "keys": {principal: (key,)},
            "root": only,
            "rules": {EVERY: only | {"self_approval": True}},
            "optimistic": (),
            "revoked": (),
            "upheld": (),
        },
        place,
    )


def add(of: Policy, principal: str, key: str, place: Place) -> Policy:
    """Give a key to a principal, who becomes an approver of everything if they are new.

    With the second principal, nobody's own proposals are approved by themselves.
    """
    if principal in of.keys:
        return _next(of, place, keys=of.keys | {principal: (*of.keys[principal], key)})
    changed = {
        name: _rule(rule, approvers=(*rule.approvers, principal), self_approval=False)
        for name, rule in of.rules.items()
    }
    root = _threshold(of.root, approvers=(*of.root.approvers, principal))
    return _next(of, place, keys=of.keys | {principal: (key,)}, root=root, rules=changed)


def remove_key(of: Policy, key: str, place: Place) -> Policy:
    """Take a key, named by its fingerprint, off the list; a principal's last one takes them along."""
    owner = of.holders().get(key)
    if owner is None:
        raise RefusedError(f"the policy knows no key {key}", hint="githarness policy show")
    return _next(of, place, **_without(of, owner, key))


def remove(of: Policy, principal: str, place: Place) -> Policy:
    """Take a principal out of everything."""
    return _next(of, place, **_nobody(of, principal))


def revoke(of: Policy, key: str, place: Place, *, upheld: tuple[str, ...] = ()) -> Policy:
    """Void what a key ever signed, except the decisions that are upheld by id.

    Said again of a revoked key, it upholds more.
    """
    owner = of.holders().get(key)
    changes = _without(of, owner, key) if owner is not None else {}
    both = tuple(dict.fromkeys((*of.upheld, *upheld)))
    return _next(of, place, revoked=tuple(dict.fromkeys((*of.revoked, key))), upheld=both, **changes)


def set_threshold(of: Policy, component: str, threshold: int, place: Place) -> Policy:
    """Set how many must agree: to changes of a component, of every other (`*`), or of the policy (`root`)."""
    if component == ROOT:
        return _next(of, place, root=_threshold(of.root, threshold=threshold))
    rule = of.rule(component)
    if rule is None:
        raise RefusedError(
            f"the policy has no rule for {component}, so nobody approves its changes",
            hint=f"githarness policy approvers {component} NAME",
        )
    return _next(of, place, rules=of.rules | {component: _rule(rule, threshold=threshold)})


def set_approvers(of: Policy, component: str, approvers: tuple[str, ...], place: Place) -> Policy:
    """Set who may approve changes of a component, of every other (`*`), or of the policy (`root`)."""
    if component == ROOT:
        return _next(of, place, root=_threshold(of.root, approvers=approvers))
    rule = of.rule(component)
    made = {"approvers": approvers, "threshold": 1, "self_approval": False} if rule is None else None
    return _next(of, place, rules=of.rules | {component: made or _rule(rule, approvers=approvers)})


def set_optimistic(of: Policy, components: tuple[str, ...], place: Place) -> Policy:
    """Set the components whose plain numbers may change before anybody was asked."""
    return _next(of, place, optimistic=components)


def read_key(text: str) -> str:
    """Return the one spelling of the key in a .pub file; RefusedError when it may not be listed."""
    try:
        key = keys.from_file(text)
    except VoidError as error:
        raise RefusedError(error.reason, hint="give the .pub file of an ed25519 or ecdsa-p256 key") from error
    weakness = keys.weakness(key)
    if weakness is not None:
        raise RefusedError(f"the key {key.fingerprint} {weakness}", hint="ssh-keygen -t ed25519")
    return key.text


def _threshold(rule: Threshold, **changes: Any) -> dict[str, Any]:
    return rule.model_dump() | changes


def _rule(rule: Rule | None, **changes: Any) -> dict[str, Any]:
    return (rule.model_dump() if rule is not None else {}) | changes


def _without(of: Policy, principal: str, key: str) -> dict[str, Any]:
    texts = of.keys.get(principal, ())
    left = tuple(text for text in texts if keys.parse(text).fingerprint != key)
    if left == texts:
        raise RefusedError(f"{principal} has no key {key}", hint="githarness policy show")
    return {"keys": of.keys | {principal: left}} if left else _nobody(of, principal)


def _nobody(of: Policy, principal: str) -> dict[str, Any]:
    if principal not in of.keys:
        raise RefusedError(f"the policy knows no {principal}", hint="githarness policy show")
    return {
        "keys": {name: texts for name, texts in of.keys.items() if name != principal},
        "root": _threshold(of.root, approvers=_others(of.root, principal)),
        "rules": {name: _rule(rule, approvers=_others(rule, principal)) for name, rule in of.rules.items()},
    }


def _others(rule: Threshold, principal: str) -> tuple[str, ...]:
    return tuple(name for name in rule.approvers if name != principal)


def _next(of: Policy, place: Place, **changes: Any) -> Policy:
    plain = of.model_dump(mode="python") | changes
    return _made(plain | {"version": of.version + 1, "prev_policy": policies.digest(of)}, place)


def _made(plain: dict[str, Any], place: Place) -> Policy:
    plain = plain | {"main": place.main, "nonce": place.nonce}
    try:
        return Policy.model_validate(plain)
    except ValidationError as error:
        words = fault.words(error)
        raise RefusedError(f"this cannot be a policy: {words}", hint="githarness policy show") from error
