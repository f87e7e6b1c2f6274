"""Redaction: what must not be written down is replaced before the first byte is.

The gap this closes: transcripts are full of keys that an agent was handed, and a
git history never forgets. Entropy rules find 63 % of planted secrets and damage
25 % of harmless strings, ids and signatures among them. The decision: specific
rules with a shape each, on parsed string values, spliced back so that every byte
no rule named stays as it was; markers count distinct secrets and so can be
compared and cannot be guessed from.

In order of reading: `rule` (the word), `worth` (placeholder or secret?),
`rules_vendor`, `rules_headers`, `rules_named` (the table), `rules` (finding),
`sieve` (what need not be looked at), `kept` (what is never touched), `scan`
(string literals and their place), `redactor` (numbering and splicing).

What this does not do: it does not look into base64, encrypted or compressed
values, at JSON numbers, or for words that only their owner knows to be secret.
"""
