"""Proposing: evidence, a model's reply or a person's words in, a typed mutation out; pure."""
