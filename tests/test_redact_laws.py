"""Laws of redaction that hold for any input: settled, sound, valid, and linear."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from githarness.redact import rules, sieve
from githarness.redact.redactor import Redactor

AWS = "AK" + "IA" + "Q3EXKJ7MZ2P4V6TB"
AWS2 = "AK" + "IA" + "Z2P4V6TBQ3EXKJ7M"
GITHUB = "gh" + "p_" + "Zq3vT8mLw0RxK5yHc1NsB7dGf2PjQ9aUe4Wi"
PASSWORD = "hunter2" + "hunter2"
PEM = "-----BEGIN " + "PRIVATE KEY-----"


def redact(raw):
    return Redactor.open(b"k").feed(raw)


PIECES = [
    AWS, AWS2, GITHUB, "gh" + "p_", "password", "=", ": ", '"', "'", "\\", "\\n", "\\u0041", "\n", " ", "/",
    PASSWORD, "Bearer ", "Cookie: sid=", "a1b2c3d4" + "e5f6", "://u:", "@h", "{", "}", "[", "]", ",", "é",
    "[REDACTED:assignment:1]", PEM, "Ab1+" * 12, "token", "x", "-", "_", "\ud83d", "12345678",
]  # fmt: skip
LONG_RUNS = [
    "a", '"', '\\"', "password=", "password: '", "token=\\\"token='", "-eyJ", "ask-ant-", "://a:b", "\\u0041",
    PEM, "cookie: a=b; ", "[REDACTED:assignment:1]", "{", "--a-token ",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)
DOCUMENTS = st.recursive(
    TEXTS | st.none() | st.integers() | st.floats(allow_nan=False),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(TEXTS | st.sampled_from(["password", "id", "data", "token"]), inner, max_size=3)
        | inner.map(json.dumps)
    ),
    max_leaves=6,
)


@given(TEXTS)
@settings(max_examples=300, deadline=None)
def test_redacting_a_text_twice_changes_nothing(text):
    once = redact(text.encode("utf-8", "surrogatepass"))
    assert redact(once) == once


@given(DOCUMENTS)
@settings(max_examples=300, deadline=None)
def test_redacting_a_document_twice_changes_nothing_and_it_stays_json(document):
    raw = json.dumps(document).encode()
    once = redact(raw)
    assert redact(once) == once
    assert type(json.loads(once)) is type(document)


@given(DOCUMENTS, TEXTS)
@settings(max_examples=200, deadline=None)
def test_what_the_sieve_lets_pass_no_rule_would_change(document, text):
    raw = json.dumps(document).encode()
    line = text.encode("utf-8", "surrogatepass")
    for one in (raw, line):
        assert sieve.may_fire(one) or (
            redact(one) is one and not rules.find(one.decode("utf-8", "replace"), "")
        )


@given(st.lists(DOCUMENTS.map(json.dumps), min_size=1, max_size=4))
@settings(max_examples=100, deadline=None)
def test_a_block_may_fire_where_any_of_its_lines_may(lines):
    block = "\n".join(lines).encode()
    assert sieve.may_fire(block) >= any(sieve.may_fire(line.encode()) for line in lines)


@given(st.binary(max_size=60))
@settings(max_examples=200, deadline=None)
def test_any_bytes_are_redacted_or_stay(raw):
    once = redact(raw)
    assert redact(once) == once


@pytest.mark.parametrize("unit", LONG_RUNS)
def test_a_long_run_of_anything_is_read_in_one_go(unit):
    text = unit * (100_000 // len(unit))
    assert redact(json.dumps({"t": text}).encode()) == json.dumps({"t": text}).encode()


def test_a_line_of_megabytes_gives_up_its_one_secret():
    filler = "the password field and the tokenizer; input_tokens " * 20_000
    raw = json.dumps({"t": filler + AWS + " " + filler}).encode()
    assert redact(raw) == raw.replace(AWS.encode(), b"[REDACTED:aws-access-key:1]")
