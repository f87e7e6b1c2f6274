"""The policy: who may decide what, as one document that root approvers sign.

The gap this closes: a list of signers that is read from a work tree or a configuration
is edited by the change it authorises. The decision: a policy is a document of
canonical bytes, named by their SHA-256; the first one's name is the ledger id, pinned
outside the repository; thresholds count principals, and one key belongs to one of
them. No wildcards in names, no certificate authorities, no dates: a date on a key is
checked against a clock that the signer sets.

What it does not do: it does not say which policy is in force (`chain`), nor how a next
one is made (`succession`).
"""

from typing import Annotated, Final, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from githarness import canon
from githarness.errors import HarnessError
from githarness.govern import keys
from githarness.govern.void import VoidError
from githarness.propose import fault
from githarness.propose.knobs import LARGEST, Component

TYPE: Final = "githarness.policy.v1"
# The rule for every component that has none of its own.
EVERY = "*"
# Some ten thousand upheld decisions; what people read is a few kilobytes.
POLICY_LIMIT = 1024 * 1024


def _key(text: str) -> str:
    key = keys.parse(text)
    weakness = keys.weakness(key)
    if weakness is not None:
        raise ValueError(f"the key {key.fingerprint} {weakness}")
    return text


def _once(values: tuple[str, ...]) -> tuple[str, ...]:
    if len(frozenset(values)) != len(values):
        raise ValueError("holds an entry twice")
    return values


# These expressions are pydantic's own, in which a dollar sign is the end and nothing else.
Principal = Annotated[str, StringConstraints(pattern="^[a-z0-9][a-z0-9._-]{0,62}$")]
Fingerprint = Annotated[str, StringConstraints(pattern="^SHA256:[A-Za-z0-9+/]{43}$")]
Id = Annotated[str, StringConstraints(pattern="^[0-9a-f]{32}$")]
Oid = Annotated[str, StringConstraints(pattern="^([0-9a-f]{40}|[0-9a-f]{64})$")]
Nonce = Annotated[str, StringConstraints(pattern="^[0-9a-f]{1,128}$")]
Keys = Annotated[tuple[Annotated[str, AfterValidator(_key)], ...], Field(min_length=1)]


class _Document(BaseModel):
    """What all parts of the document share."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)


class Threshold(_Document):
    """So many of these principals must agree."""

    approvers: Annotated[tuple[Principal, ...], AfterValidator(_once)]
    threshold: Annotated[int, Field(ge=1, le=LARGEST)]

    @model_validator(mode="after")
    def _can_be_met(self) -> Self:
        if self.threshold > len(self.approvers):
            raise ValueError(f"{self.threshold} must agree, and there are {len(self.approvers)} approvers")
        return self


class Rule(Threshold):
    """Who agrees to changes of one component; whether a proposer's own word counts."""

    self_approval: bool


class Policy(_Document):
    """One version of the policy. `main` is the commit after which it judges."""

    type: Literal["githarness.policy.v1"] = TYPE
    version: Annotated[int, Field(ge=1, le=LARGEST)]
    prev_policy: Annotated[str, StringConstraints(pattern="^([0-9a-f]{64})?$")]
    keys: dict[Principal, Keys]
    root: Threshold
    rules: dict[Component | Literal["*"], Rule]
    optimistic: Annotated[tuple[Component, ...], AfterValidator(_once)]
    main: Oid
    revoked: Annotated[tuple[Fingerprint, ...], AfterValidator(_once)]
    upheld: Annotated[tuple[Id, ...], AfterValidator(_once)]
    nonce: Nonce

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if (self.version == 1) != (self.prev_policy == ""):
            raise ValueError("the first version follows no policy, and every other follows one")
        named = {name for rule in (self.root, *self.rules.values()) for name in rule.approvers}
        strangers = sorted(named - self.keys.keys())
        if strangers:
            raise ValueError(f"{', '.join(strangers)} may approve and has no key")
        listed = [keys.parse(text).fingerprint for texts in self.keys.values() for text in texts]
        if len(frozenset(listed)) != len(listed):
            raise ValueError("a key is listed twice, and belongs to one principal")
        dead = sorted(frozenset(listed) & frozenset(self.revoked))
        if dead:
            raise ValueError(f"the revoked key {dead[0]} is still listed")
        return self

    def holders(self) -> dict[str, str]:
        """Whose key is whose: principals by fingerprint."""
        return {keys.parse(text).fingerprint: name for name, texts in self.keys.items() for text in texts}

    def rule(self, component: str) -> Rule | None:
        """Return the rule for a component; None when nobody may approve changes of it."""
        own = {str(name): rule for name, rule in self.rules.items()}
        return own.get(component) or own.get(EVERY)

    def may_approve(self, principal: str, component: str) -> bool:
        """Tell whether a principal's word on this component counts."""
        rule = self.rule(component)
        return rule is not None and principal in rule.approvers


def encode(policy: Policy) -> bytes:
    """Return the bytes of a policy, which are its only form."""
    return canon.encode(policy.model_dump(mode="python"))


def digest(policy: Policy) -> str:
    """Name a policy: the SHA-256 of its bytes. The first version's is the ledger id."""
    return canon.sha256(encode(policy))


def decode(data: bytes) -> Policy:
    """Read a policy; VoidError unless writing it again gives the same bytes."""
    if len(data) > POLICY_LIMIT:
        raise VoidError("policy", f"a policy of {len(data)} bytes, of which {POLICY_LIMIT} are allowed")
    try:
        # For its words: it names repeated keys, bad UTF-8, NaN and absurd nesting.
        canon.parse(data, "policy")
        policy = Policy.model_validate_json(data)
    except HarnessError as error:
        raise VoidError("policy", error.message) from error
    except ValidationError as error:
        raise VoidError("policy", f"policy: {fault.words(error)}") from error
    if encode(policy) != data:
        raise VoidError("policy", "the policy is not in canonical form")
    return policy


def allowed_signers(policy: Policy) -> str:
    """Write the file with which a person can run `git verify-tag` by hand. Never an input."""
    lines = [
        f'{principal} namespaces="git" {text}\n'
        for principal, texts in sorted(policy.keys.items())
        for text in texts
    ]
    return "".join(lines)
