"""Landing: on what ground a mutation may stand on main. `apply` and `verify` both ask here.

The gap this closes: two programs that decide "may this land?" drift apart, and one of
them is then wrong about the other's work. The decision: one function. Only plain
numbers that no person must agree to, of components that the policy lists, may land
unasked, and not over a standing "no".

What it does not do: it knows no measurement.
"""

from typing import Literal

from githarness.govern.ledger import Ledger
from githarness.govern.policy import Policy
from githarness.govern.standing import Standing
from githarness.propose import mutation as mutations
from githarness.propose.knobs import Declaration
from githarness.propose.mutation import Mutation

Ground = Literal["approved", "optimistic", "pending", "rejected"]


def ground(
    ledger: Ledger, policy: Policy, document: Mutation, declaration: Declaration, standing: Standing
) -> Ground:
    """Return why a mutation may land (approved, optimistic) or may not (pending, rejected).

    `declaration` is the one in force where it lands, never the one it brings.
    """
    if standing.verdict != "pending":
        return standing.verdict
    asked = mutations.needs_person(document, declaration) or bool(ledger.problems)
    return "optimistic" if not asked and document.contract.component in policy.optimistic else "pending"
