"""What redaction removes, what it never touches, and how it numbers what it removed."""

import json
import stat

import msgspec
import pytest

from githarness.errors import UnreadableError
from githarness.redact import rules
from githarness.redact.redactor import Redactor, fired
from githarness.redact.rules import RULES_VERSION
from githarness.redact.scan import splice

AWS = "AK" + "IA" + "Q3EXKJ7MZ2P4V6TB"
AWS2 = "AK" + "IA" + "Z2P4V6TBQ3EXKJ7M"
GITHUB = "gh" + "p_" + "Zq3vT8mLw0RxK5yHc1NsB7dGf2PjQ9aUe4Wi"
PASSWORD = "hunter2" + "hunter2"


def redact(raw, key=b"k"):
    return Redactor.open(key).feed(raw)


# --- bytes --------------------------------------------------------------------------------------


def test_a_record_without_a_secret_is_the_same_object():
    raw = b'{"type":"user","usage":{"input_tokens":12},"text":"the password field"}'
    assert redact(raw) is raw


def test_every_byte_outside_the_secrets_literal_stays():
    raw = b'{ "n" : 1.50e+3,\t"z":"\\u00e9\\/\\n", "a":1, "a":"%s" , "u":"\xc3\xa9" }' % AWS.encode()
    assert redact(raw) == raw.replace(AWS.encode(), b"[REDACTED:aws-access-key:1]")


def test_the_literal_of_a_secret_keeps_its_other_characters():
    raw = json.dumps({"t": f'é "quoted"\n\ttab \\ {AWS} \u2028 end'}).encode()
    assert json.loads(redact(raw))["t"] == 'é "quoted"\n\ttab \\ [REDACTED:aws-access-key:1] \u2028 end'


def test_an_ascii_record_stays_ascii_and_a_utf_8_record_stays_unescaped():
    assert redact(json.dumps({"t": f"é {AWS}"}).encode()).isascii()
    assert "é" in redact(json.dumps({"t": f"é {AWS}"}, ensure_ascii=False).encode()).decode()


def test_half_a_surrogate_pair_beside_a_secret_survives():
    raw = b'{"t":"\\ud83d %s"}' % AWS.encode()
    assert redact(raw) == b'{"t":"\\ud83d [REDACTED:aws-access-key:1]"}'


def test_edits_name_the_literal_and_splice_to_what_feed_gives():
    raw = b'{"a":"%s","b":2}' % AWS.encode()
    edits = Redactor.open(b"k").edits(raw)
    assert edits == [(5, 27, b'"[REDACTED:aws-access-key:1]"')]
    assert splice(raw, edits) == redact(raw)


def test_a_pretty_printed_document_is_one_record():
    raw = json.dumps({"id": "x", "env": {"API_KEY": "q7w8" + "e9r0t1y2"}}, indent=2).encode()
    assert redact(raw) == raw.replace(b"q7w8e9r0t1y2", b"[REDACTED:assignment:1]")


# --- where secrets hide -------------------------------------------------------------------------


def test_a_secret_behind_json_escapes_is_found():
    raw = b'{"t":"\\u0041' + AWS[1:].encode() + b'"}'
    assert redact(raw) == b'{"t":"[REDACTED:aws-access-key:1]"}'


def test_a_url_with_escaped_slashes_is_found():
    raw = b'{"t":"https:\\/\\/bob:s3cr3t' + b'Pw@host\\/x"}'
    assert json.loads(redact(raw)) == {"t": "https://bob:[REDACTED:url-credentials:1]@host/x"}


def test_json_in_a_string_stays_json_inside_and_outside():
    inner = '{"api_key": "q7w8' + 'e9r0t1y2",  "n":1.0}'
    out = json.loads(redact(json.dumps({"arguments": inner}).encode()))
    assert out["arguments"] == '{"api_key": "[REDACTED:assignment:1]",  "n":1.0}'


def test_a_secret_five_strings_deep_is_found_and_every_level_stays_json():
    document = {"password": PASSWORD}
    for _ in range(5):
        document = {"text": json.dumps(document)}
    out = json.loads(redact(json.dumps(document).encode()))
    for _ in range(5):
        out = json.loads(out["text"])
    assert out == {"password": "[REDACTED:assignment:1]"}


def test_a_secret_name_reaches_into_a_list_and_into_a_quoted_string():
    raw = json.dumps({"password": [PASSWORD, json.dumps(PASSWORD)]}).encode()
    marker = "[REDACTED:assignment:1]"
    assert json.loads(redact(raw)) == {"password": [marker, json.dumps(marker)]}


def test_an_object_key_that_is_a_secret_is_redacted():
    assert redact(b'{"%s":true}' % AWS.encode()) == b'{"[REDACTED:aws-access-key:1]":true}'


def test_a_secret_in_half_a_record_of_text_is_found_with_its_escapes():
    raw = (
        b'{"t":"line\\n\\u0041' + AWS[1:].encode() + b' and \\"password\\": \\"' + PASSWORD.encode() + b'\\"'
    )
    redactor = Redactor.open(b"k")
    assert redactor.feed(raw) == (
        b'{"t":"line\\n[REDACTED:aws-access-key:1] and \\"password\\": \\"[REDACTED:assignment:2]\\"'
    )
    assert redactor.unparsed == 1


# --- what is never touched ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "key",
    [
        *("signature", "thoughtSignature", "encrypted_content", "reasoningOpaque"),
    ],
)
def test_a_signature_is_never_touched_and_the_hit_is_counted(key):
    redactor = Redactor.open(b"k")
    raw = json.dumps({key: AWS}).encode()
    assert redactor.feed(raw) is raw
    assert redactor.spared == {"aws-access-key": 1}


IDS = ("id", "uuid", "parentUuid", "call_id", "tool_use_id", "sessionId", "requestID", "tool_call_ids")


@pytest.mark.parametrize("key", IDS)
def test_a_vendors_key_in_an_id_is_redacted(key):
    assert redact(json.dumps({key: AWS}).encode()) == b'{"%s": "[REDACTED:aws-access-key:1]"}' % key.encode()


@pytest.mark.parametrize("key", IDS)
def test_what_only_a_name_makes_a_secret_stays_in_an_id_and_is_counted(key):
    redactor = Redactor.open(b"k")
    raw = json.dumps({key: f"token={PASSWORD}"}).encode()
    assert redactor.feed(raw) is raw
    assert redactor.spared == {"assignment": 1}


def test_what_an_id_joins_stays_joined():
    raw = json.dumps([{"id": AWS}, {"tool_use_id": AWS}, {"text": f"see {AWS}"}]).encode()
    first, second, third = json.loads(redact(raw))
    assert first["id"] == second["tool_use_id"] == third["text"].removeprefix("see ")


def test_an_id_redacted_twice_is_what_it_was_after_once():
    once = redact(json.dumps({"id": AWS}).encode())
    assert redact(once) is once


@pytest.mark.parametrize("key", ["aws_access_key_id", "AccessKeyId", "secret_id", "valid", "data", "paid"])
def test_a_key_that_only_ends_like_an_id_is_no_id(key):
    assert AWS.encode() not in redact(json.dumps({key: AWS}).encode())


@pytest.mark.parametrize(
    "pair",
    [
        ("type", "redacted_thinking"),
        ("type", "base64"),
        ("mimeType", "image/png"),
        ("media_type", "image/jpeg"),
    ],
)
def test_data_beside_an_opaque_type_is_never_touched_in_either_order(pair):
    first = json.dumps({pair[0]: pair[1], "data": AWS}).encode()
    last = json.dumps({"data": AWS, pair[0]: pair[1]}).encode()
    assert redact(first) is first
    assert redact(last) is last


def test_an_opaque_type_of_one_object_does_not_cover_the_next():
    raw = json.dumps([{"type": "base64", "data": "QUJD"}, {"data": AWS}]).encode()
    assert AWS.encode() not in redact(raw)


def test_data_that_is_nothing_but_base64_is_never_touched():
    raw = json.dumps({"data": "ab/" + AWS + "/" + "iVBORw0KGgo" * 6}).encode()
    assert redact(raw) is raw


# --- what is not json ---------------------------------------------------------------------------


def test_a_line_that_is_not_json_is_redacted_as_text_and_counted():
    redactor = Redactor.open(b"k")
    assert (
        redactor.feed(f"$ export PASSWORD={PASSWORD}".encode())
        == b"$ export PASSWORD=[REDACTED:assignment:1]"
    )
    assert redactor.unparsed == 1


def test_a_blank_line_is_not_counted_as_unparsed():
    redactor = Redactor.open(b"k")
    assert redactor.feed(b" \r") == b" \r"
    assert redactor.unparsed == 0


def test_bytes_that_are_not_utf_8_stay_and_the_secret_beside_them_goes():
    raw = b'{"t":"\xff\xfe ' + AWS.encode() + b' \xc3"}'
    assert redact(raw) == b'{"t":"\xff\xfe [REDACTED:aws-access-key:1] \xc3"}'


@pytest.mark.parametrize("odd", [b'"\\ud83d":1', b'"n":NaN', b'"n":1e999', b'"a":1,"a":2'])
def test_json_as_clients_write_it_is_json(odd):
    redactor = Redactor.open(b"k")
    raw = b'{%s,"password":12345678901}' % odd
    assert redactor.feed(raw) is raw
    assert redactor.unparsed == 0


def test_a_number_under_a_key_stays_where_json_is_cut_off():
    raw = b'{"password": 1234567890, "token": -12'
    assert redact(raw) == raw


def test_nesting_that_no_parser_reads_is_redacted_as_text():
    raw = b"[" * 200_000 + b'"' + AWS.encode() + b'"'
    assert AWS.encode() not in redact(raw)


# --- numbers ------------------------------------------------------------------------------------


def test_equal_secrets_share_a_marker_and_others_count_on_by_first_appearance():
    redactor = Redactor.open(b"k")
    lines = [redactor.feed(json.dumps(one).encode()) for one in (AWS, GITHUB, AWS, AWS2)]
    assert lines == [
        b'"[REDACTED:aws-access-key:1]"',
        b'"[REDACTED:github-token:2]"',
        b'"[REDACTED:aws-access-key:1]"',
        b'"[REDACTED:aws-access-key:3]"',
    ]
    assert redactor.counts == {"aws-access-key": 3, "github-token": 1}


def test_the_rule_shown_is_the_first_that_found_the_secret():
    redactor = Redactor.open(b"k")
    assert redactor.text(f"mysql --password {PASSWORD}") == "mysql --password [REDACTED:secret-flag:1]"
    assert redactor.text(f"PASSWORD={PASSWORD}") == "PASSWORD=[REDACTED:secret-flag:1]"


def test_the_key_changes_the_digests_and_nothing_that_is_written():
    raw = json.dumps([AWS, GITHUB, AWS2]).encode()
    one, other = Redactor.open(b"one"), Redactor.open(b"other" * 50)
    assert one.feed(raw) == other.feed(raw)
    assert not set(one.seen) & set(other.seen)


def test_a_marker_in_the_source_stays_and_takes_no_number():
    raw = b'{"t":"[REDACTED:aws-access-key:1] [REDACTED:made-up:999] %s"}' % AWS.encode()
    assert (
        redact(raw)
        == b'{"t":"[REDACTED:aws-access-key:1] [REDACTED:made-up:999] [REDACTED:aws-access-key:1]"}'
    )


def test_a_marker_in_the_source_hides_nothing():
    secret = "sk" + "-ant-" + "api03-zq3vt8mlw0rxk5yhc1"
    assert redact(f'"[REDACTED:{secret}:1]"'.encode()) == b'"[REDACTED:[REDACTED:anthropic-key:1]:1]"'
    assert PASSWORD.encode() not in redact(json.dumps({"password": f"{PASSWORD}[REDACTED:x:1]"}).encode())


@pytest.mark.parametrize("name", sorted({name for rule in rules.TABLE for name in rule.names}))
def test_a_marker_fires_no_rule_wherever_it_stands(name):
    marker = f"[REDACTED:{name}:1234567]"
    raw = json.dumps(
        {"password": marker, "t": f"token={marker} //u:{marker}@h Bearer {marker}: a=b1"}
    ).encode()
    assert redact(raw) is raw


# --- state --------------------------------------------------------------------------------------


def test_a_recording_resumed_in_the_middle_is_the_recording():
    lines = [
        json.dumps({"n": n, "t": t}).encode() for n, t in enumerate([AWS, GITHUB, "x", AWS2, GITHUB, AWS])
    ]
    whole = Redactor.open(b"key")
    expected = [whole.feed(line) for line in lines]
    half = Redactor.open(b"key")
    first = [half.feed(line) for line in lines[:3]]
    rest = Redactor.resume(half.snapshot(), b"key")
    assert first + [rest.feed(line) for line in lines[3:]] == expected
    assert rest.snapshot() == whole.snapshot()


def test_the_state_holds_neither_a_secret_nor_the_key(tmp_path):
    redactor = Redactor.open(b"the caller's own key")
    redactor.feed(json.dumps([AWS, PASSWORD, {"password": PASSWORD}]).encode())
    cache = tmp_path / "state"
    cache.touch(mode=0o600)
    cache.write_bytes(msgspec.msgpack.encode(redactor))
    assert stat.S_IMODE(cache.stat().st_mode) == 0o600
    assert not [one for one in (AWS, PASSWORD, "caller") if one.encode() in cache.read_bytes()]


@pytest.mark.parametrize("state", [b"", b"\x80", b"garbage", Redactor.open(b"other").snapshot()])
def test_a_state_that_does_not_fit_the_key_is_refused(state):
    with pytest.raises(UnreadableError, match="redaction state"):
        Redactor.resume(state, b"key")


def test_a_state_of_other_rules_is_refused():
    state = Redactor.open(b"key")
    state.version = RULES_VERSION + 1
    with pytest.raises(UnreadableError, match="older rules"):
        Redactor.resume(state.snapshot(), b"key")


def test_a_state_without_its_key_redacts_nothing_and_says_so():
    bare = msgspec.msgpack.decode(Redactor.open(b"key").snapshot(), type=Redactor)
    with pytest.raises(UnreadableError, match="without its key"):
        bare.feed(b'"%s"' % AWS.encode())


def test_the_digest_of_a_secret_is_pinned():
    redactor = Redactor.open(b"key")
    redactor.text(AWS)
    assert redactor.seen == {"357e5fcdab555d0a995881c393b9eeaf": 1}


# --- surfaces and prompts -----------------------------------------------------------------------


def test_the_rules_that_fire_in_a_surface_are_named_also_where_nothing_is_touched():
    surface = [{"name": "push", "description": f"use {GITHUB}", "input_schema": {"id": AWS}}]
    assert fired(json.dumps(surface).encode()) == ("aws-access-key", "github-token")


def test_a_surface_that_only_speaks_of_secrets_fires_nothing():
    properties = {"password": {"type": "string", "description": "The password, e.g. <your-password>"}}
    surface = [{"name": "login", "input_schema": {"properties": properties, "required": ["password"]}}]
    assert fired(json.dumps(surface, indent=2).encode()) == ()
