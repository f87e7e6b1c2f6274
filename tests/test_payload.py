"""Payloads: one line of JSON with one meaning and one spelling."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_ledger import NOW, alone, decision

from githarness import canon
from githarness.govern import payload
from githarness.govern.payload import Decision, PolicySignature
from githarness.govern.void import VoidError

ADA, BOOK = alone()
DECISION = decision(ADA, BOOK, nonce="01", prev=("0" * 32,), reason="seen and understood")
DATA = payload.encode(DECISION)


def plain(**changes):
    """The decision as JSON, with some fields changed."""
    return {**msgspec.to_builtins(DECISION), **changes}


def canonical(value):
    return msgspec.json.encode(value, order="sorted")


def refused(data):
    with pytest.raises(VoidError) as caught:
        payload.decode(data)
    return caught.value.reason


def without(field):
    document = plain()
    del document[field]
    return canonical(document)


def test_a_decision_is_read_as_it_was_written():
    assert payload.decode(DATA) == DECISION


def test_the_bytes_of_a_decision_are_pinned():
    assert canon.sha256(DATA) == "4d6f2110ae99122eee5297e2b290f548762d5fc6df29ffdcc9d7210a754bfda8"


def test_an_entry_is_named_by_half_of_its_payloads_digest():
    assert payload.identity(b"{}") == "44136fa355b3678a1146ad16f7e8649e"


def test_the_bytes_of_a_policy_signature_are_written_out():
    signature = PolicySignature(
        ledger="1" * 64, policy="2" * 64, prev=(), principal="ada", key=ADA.fingerprint, nonce="0f"
    )
    assert (
        payload.encode(signature)
        == (
            f'{{"key":"{ADA.fingerprint}","ledger":"{"1" * 64}","nonce":"0f","policy":"{"2" * 64}",'
            f'"prev":[],"principal":"ada","type":"githarness.policysig.v1"}}'
        ).encode()
    )


@pytest.mark.parametrize("field", sorted(plain()))
def test_a_missing_field_is_refused(field):
    assert refused(without(field))


def test_an_unknown_field_is_refused():
    assert "unknown field" in refused(canonical(plain(extra=1)))


def test_an_unknown_field_of_the_base_is_refused():
    assert "unknown field" in refused(canonical(plain(base={**plain()["base"], "extra": 1})))


def test_a_repeated_field_is_refused():
    assert "canonical" in refused(DATA.replace(b'"issued"', b'"issued":1,"issued"'))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: data + b" ",
        lambda data: b" " + data,
        lambda data: data.replace(b":", b": ", 1),
        lambda data: msgspec.json.encode(dict(reversed(plain().items()))),
        lambda data: data.replace(b"seen", b"\\u0073een"),
        lambda data: data.replace(b"seen", b"\\/een"),
        lambda data: data.replace(str(NOW).encode(), f"{NOW}.0".encode()),
        lambda data: data.replace(str(NOW).encode(), f"{NOW}e0".encode()),
        lambda data: data.replace(b'"expires":0', b'"expires":-0'),
        lambda data: data.replace(b'"expires":0', b'"expires":00'),
        lambda data: data.replace(b'"expires":0', b'"expires":NaN'),
        lambda data: b"\xef\xbb\xbf" + data,
        lambda data: data.decode().encode("utf-16"),
        lambda data: data.replace(b"seen", b"\xffeen"),
        lambda data: data.replace(b"seen", b"\\ud800"),
    ],
)
def test_no_other_spelling_is_read(spoil):
    assert refused(spoil(DATA))


@pytest.mark.parametrize("data", [b"", b"{}", b"[]", b"null", b"1", DATA[:-1], DATA + DATA])
def test_what_is_no_payload_is_refused(data):
    assert refused(data)


@pytest.mark.parametrize("data", [b"[" * 60_000, b'{"a":' * 12_000, DATA[:-1] + b',"z":' + b"[" * 50_000])
def test_deep_nesting_is_refused_and_does_not_break_the_reader(data):
    assert refused(data)


@pytest.mark.parametrize("value", [2**53, -1, 1.5, "1", None, True])
@pytest.mark.parametrize("field", ["issued", "expires"])
def test_a_time_is_a_whole_number_that_every_reader_of_json_keeps(field, value):
    assert refused(canonical(plain(**{field: value})))


@pytest.mark.parametrize("value", ["A" * 64, "a" * 63, "a" * 64 + "\n", "１" * 64, "", 7])
@pytest.mark.parametrize("field", ["ledger", "policy", "mutation", "document", "result", "display"])
def test_a_digest_is_64_plain_hex_digits(field, value):
    assert refused(canonical(plain(**{field: value})))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("decision", "approved"),
        ("type", "githarness.decision.v2"),
        ("target", "main"),
        ("target", "refs/heads/a\nb"),
        ("principal", "Ada"),
        ("principal", "-ada"),
        ("principal", "a" * 64),
        ("principal", "*"),
        ("principal", "ada\n"),
        ("key", "MD5:aa"),
        ("key", ADA.fingerprint + "="),
        ("nonce", ""),
        ("nonce", "xyz"),
        ("prev", ["0" * 31]),
        ("prev", ["0" * 32, "0" * 32]),
        ("prev", "0" * 32),
        ("supersedes", ["1" * 32, "1" * 32]),
        ("base", {"commit": "1" * 41, "state": "2" * 64}),
        ("reason", None),
    ],
)
def test_every_field_has_its_own_form(field, value):
    assert refused(canonical(plain(**{field: value})))


def test_256_heads_can_be_named_and_no_more():
    heads = [f"{at:032x}" for at in range(257)]
    assert payload.decode(canonical(plain(prev=heads[:256])))
    assert refused(canonical(plain(prev=heads)))


@pytest.mark.parametrize(
    "reason", ["", "naïve: größer, 日本語, ελληνικά", "\U0001f600 \U0001f44d 🤖", 'a "b" \\ c']
)
def test_a_reason_is_written_in_any_language(reason):
    assert payload.decode(canonical(plain(reason=reason))).reason == reason


@pytest.mark.parametrize(
    "character",
    [
        "\n", "\t", "\r", "\x1b", "\x00", "\x7f", "\x9b", "\xad", "\u061c", "\u200b", "\u200e", "\u202e",
        "\u2066", "\u2028", "\ufeff", "\ufe0f", "\ue000", "\U000e0041", "\U000e0100", "\u0378",
        "\U000323b0", "\uffff",
    ],
)  # fmt: skip
def test_a_reason_holds_nothing_that_cannot_be_seen(character):
    assert "the reason" in refused(canonical(plain(reason=f"fine{character}really")))


def test_a_reason_that_only_newer_tables_know_is_refused_on_every_python():
    assert payload.reason_fault("\U0001e4d0") is not None  # a letter since Unicode 15


def test_a_reason_is_read_in_one_look():
    assert payload.reason_fault("a" * 2_001) is not None


def test_what_could_not_be_read_back_is_never_written():
    with pytest.raises(ValueError, match="cannot be seen"):
        decision(ADA, BOOK, reason="a\u202eb")
    with pytest.raises(ValueError, match="principal"):
        payload.encode(msgspec.structs.replace(DECISION, principal="Ada"))


@given(st.integers(min_value=0, max_value=8 * len(DATA) - 1))
@settings(max_examples=150, deadline=None)
def test_a_flipped_bit_is_refused_or_is_another_entry(bit):
    data = bytearray(DATA)
    data[bit // 8] ^= 1 << bit % 8
    try:
        found = payload.decode(bytes(data))
    except VoidError:
        return
    assert found != DECISION
    assert payload.identity(bytes(data)) != payload.identity(DATA)


@given(st.binary(max_size=80))
@settings(max_examples=100, deadline=None)
def test_whatever_is_read_is_written_the_same(data):
    try:
        found = payload.decode(data)
    except VoidError:
        return
    assert isinstance(found, Decision | PolicySignature)
    assert payload.encode(found) == data
