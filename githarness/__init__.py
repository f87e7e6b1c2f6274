"""githarness: a git-native record of what an AI agent was sent and what it did.

What it closes: after a change of tool descriptions, prompts or limits nobody
can say what a run was really sent, whether a replay is faithful, or how to take
the change back. The decision: keep surfaces, recordings and approved changes as
content-addressed files in a git repository of their own. This package does not
run agents and never talks to a model by itself.
"""

__version__ = "0.1.0"
