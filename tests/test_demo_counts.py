"""The bundled recordings, counted by hand and by the program."""

import json
from importlib import resources

import pytest

from githarness.formats import detect, peek
from githarness.measure import counters, stopcause

DATA = resources.files("githarness.data").joinpath("demo")

# (file, turns, steps, calls, errors, denied, unknown, malformed, stop), each read off the file
BY_HAND = [
    # two calls in the first response: pytest fails, Read is fine; then curl is denied; then text
    ("invoice.jsonl", 1, 3, 3, 1, 1, 0, 0, "completed"),
    # the same opening, then an edit that works
    ("invoice-again.jsonl", 1, 3, 3, 1, 0, 0, 0, "completed"),
    # ls of a folder that is not there exits 2, ls of its parent exits 0
    ("rollout.jsonl", 1, 3, 2, 1, 0, 0, 0, "completed"),
    # chat results carry no flag, so both outcomes are unknown
    ("shop-run.json", 1, 3, 2, 0, 0, 2, 0, "completed"),
]


@pytest.mark.parametrize("row", BY_HAND, ids=lambda row: row[0])
def test_the_counters_equal_a_count_by_hand(row):
    data = DATA.joinpath(row[0]).read_bytes()
    found = detect.session(peek.lines(data) if row[0].endswith("l") else peek.document(data))
    stats = counters.count(stopcause.settled(detect.read(found.name, data)))
    assert row[1:] == (
        stats.turns,
        stats.steps,
        stats.tool_calls,
        stats.tool_errors,
        stats.tool_denied,
        stats.tool_unknown,
        stats.malformed_args,
        stats.stop_cause,
    )


def test_the_tools_of_the_bundled_run_are_the_bundled_tools():
    request = json.loads(DATA.joinpath("shop-run.json").read_bytes())["request"]
    assert request["tools"] == json.loads(DATA.joinpath("tools-then.json").read_bytes())
