"""Each rule removes its vector and leaves its counter-vector.

Secrets are put together from pieces, so that no scanner trips over this file.
"""

import json
import re

import pytest

from githarness.redact import rules, sieve
from githarness.redact.redactor import Redactor, fired

HEX32 = "3f9a0b7c" + "5d1e8246" + "a9c04f7b" + "1e6d2835"
HEX64 = HEX32 + "c0ffee12" + "34ab98cd" + "0f1e2d3c" + "4b5a6978"
MIX = "Zq3" + "vT8mLw0" + "RxK5yHc1" + "NsB7dGf2" + "PjQ9aUe4" + "Wi6oXzMt"
LONG = MIX + "Kd8" + MIX
BODY = (MIX + "Ab+/" * 8 + "\n") * 3

# rule: (before, secret, after)
VECTORS = {
    "age-key": ("key ", "AGE-" + "SECRET-KEY-1" + "QZRY9X8G" * 7 + "QQ", "\n"),
    "aws-access-key": ("id=", "AK" + "IA" + "Q3EXKJ7MZ2P4V6TB", " ok"),
    "github-token": ("using ", "gh" + "p_" + MIX[:36], " to push"),
    "github-fine-grained": ("", "github" + "_pat_" + "11ABCDEFG0" + "_" + LONG[:48], ""),
    "gitlab-token": ("(", "gl" + "pat-" + MIX[:20], ")"),
    "slack-token": ("", "xo" + "xb-" + "123456789012-123456789012-" + MIX[:24], ""),
    "slack-webhook": ("https://hooks.slack.com/services/", "T0" + "3ABCDEF/B04GHIJKL/" + MIX[:24], " ok"),
    "stripe-key": ("", "sk" + "_live_" + MIX[:24], ";"),
    "google-api-key": ("?key=", "AI" + "za" + MIX[:35], "&x=1"),
    "anthropic-key": ("", "sk" + "-ant-" + "api03-" + LONG[:60] + "-AA", ""),
    "openai-key": ("", "sk" + "-proj-" + LONG[:60], ""),
    "inference-key": ("", "gs" + "k_" + LONG[:52], ""),
    "huggingface-token": ("", "hf" + "_" + MIX[:34], ""),
    "npm-token": ("_authToken ", "np" + "m_" + MIX[:36], ""),
    "pypi-token": ("", "py" + "pi-AgE" + LONG[:60], ""),
    "docker-token": ("", "dc" + "kr_pat_" + MIX[:27], ""),
    "sendgrid-key": ("", "S" + "G." + MIX[:22] + "." + LONG[:43], ""),
    "digitalocean-token": ("", "do" + "p_v1_" + HEX64, ""),
    "databricks-token": ("", "da" + "pi" + HEX32, ""),
    "supabase-key": ("", "sb" + "_secret_" + MIX[:31], ""),
    "mailgun-key": ("api:", "ke" + "y-" + HEX32, ""),
    "shopify-token": ("", "sh" + "pat_" + HEX32, ""),
    "linear-key": ("", "li" + "n_api_" + MIX[:40], ""),
    "notion-token": ("", "nt" + "n_" + LONG[:46], ""),
    "atlassian-token": ("", "AT" + "ATT3" + LONG + "=1A2B3C4D", ""),
    "vault-token": ("", "hv" + "s." + LONG[:40], ""),
    "private-key": (
        "cat key\n",
        "-----BEGIN " + "PRIVATE KEY-----\n" + BODY + "-----END PRIVATE KEY-----",
        "\n$",
    ),
    "twilio-key": ("", "S" + "K" + HEX32, ""),
    "azure-storage-key": ("AccountName=a;Account" + "Key=", LONG + "Ab0+/9" + "==", ";Endpoint=b"),
    "signed-url": ("https://h/b?sv=2024-01-01&" + "sig=", LONG[:43] + "%3D", "&se=1"),
    "discord-token": ("discord bot ", "MT" + MIX[:22] + "." + "Gx1y2Z" + "." + MIX[:30], ""),
    "discord-webhook": ("https://discord.com/api/" + "webhooks/", "123456789012345678/" + LONG[:68], ""),
    "telegram-token": ("https://api.telegram.org/bot", "123456789" + ":AA" + MIX[:33], "/getMe"),
    "jwt": ("token is ", "ey" + "JhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0In0." + MIX, " "),
    "url-credentials": ("postgres://app:", "s3cr3t" + "Pw", "@db.internal:5432/x"),
    "bearer-token": ("Authorization: Bearer ", "q7w8" + MIX, "\r\n"),
    "basic-auth": ("Authorization: Basic ", "Ym9iOmh1" + "bnRlcjI=", "\r\n"),
    "authorization": ("Authorization: ", "q7w8" + MIX, "\r\n"),
    "cookie": ("Cookie: theme=dark; sid=", "a1b2c3d4" + "e5f6g7", "; lang=en"),
    "aws-secret-key": ("aws_secret_" + "access_key = ", "wJalr" + "XUtnFEMI/K7MDENG/bPxRfiCY7q2P0t", "\n"),
    "api-key-header": ("-H 'x-goog-" + "api-key: ", "q7w8" + MIX, "'"),
    "assignment": ("DB_PASS" + "WORD=", "hunter2" + "hunter2", "\n"),
    "secret-flag": ("mysql --pass" + "word ", "hunter2" + "hunter2", " -h db"),
}

# rule: texts that come close and stay
COUNTER_VECTORS = {
    "age-key": ["AGE-SECRET-KEY-1 is the prefix of an age identity"],
    "aws-access-key": ["AKIA, then 16 characters", "xAKIA" + "Q3EXKJ7MZ2P4V6TB", "AKIA" + "q3exkj7mz2p4v6tb"],
    "github-token": ["ghp_ and gho_ are prefixes", "ghp_short123", "the_ghs_variable_name_of_a_function"],
    "github-fine-grained": ["github_pat_ is newer", "github_pat_token_from_env"],
    "gitlab-token": ["glpat-xxxxx", "glpat-your-personal-access-token"],
    "slack-token": ["xoxb-your-bot-token-goes-right-here", "foxxo-1"],
    "slack-webhook": ["https://hooks.slack.com/services/T000/B000/XXX"],
    "stripe-key": ["sk_live_ and sk_test_ keys", "task_test_something_with_a_long_name"],
    "google-api-key": ["AIza...", "AIzaTooShort"],
    "anthropic-key": ["sk-ant-your-api-key-goes-in-here", "sk-ant-..."],
    "openai-key": ["sk-proj-replace-this-with-your-key", "task-management-with-a-long-name", "sk-learn"],
    "inference-key": ["gsk_ is Groq's, xai- is xAI's, sk-or- is OpenRouter's", "r8_register"],
    "huggingface-token": ["hf_hub_download(repo_id)", "hf_transfer"],
    "npm-token": ["npm_config_registry=https://registry", "npm_package_version"],
    "pypi-token": ["pypi-AgE is how they start", "pypi-publish"],
    "docker-token": ["dckr_pat_ prefix"],
    "sendgrid-key": ["SG.Widget.render", "MSG.send.now"],
    "digitalocean-token": ["dop_v1_ plus 64 hex digits"],
    "databricks-token": ["dapi" + "0123", "dapi_client.connect"],
    "supabase-key": ["sb_secret_ keys", "sbp_ keys"],
    "mailgun-key": ["key-value store", "key-" + HEX32[:20]],
    "shopify-token": ["shpat_ prefix"],
    "linear-key": ["lin_api_ prefix", "lin_alg_solver"],
    "notion-token": ["ntn_ prefix"],
    "atlassian-token": ["ATATT3 prefix"],
    "vault-token": ["hvs. prefix", "hvs.client_for_the_whole_application_layer"],
    "private-key": [
        "-----BEGIN PRIVATE KEY----- stands on the first line",
        "-----BEGIN " + "PUBLIC KEY-----\n" + BODY + "-----END PUBLIC KEY-----",
    ],
    "twilio-key": ["S" + "K" + HEX32[:30], "TASK" + HEX32],
    "azure-storage-key": ["Account" + "Key=<key>;", "AccountKey=short"],
    "signed-url": ["?sig=abc", "design=" + MIX + MIX],
    "discord-token": ["discord.js client.login.method", "no word: MT" + MIX[:22] + ".Gx1y2Z." + MIX[:30]],
    "discord-webhook": ["https://discord.com/api/webhooks/1/x"],
    "telegram-token": ["12345:AAB", "10:AA"],
    "jwt": ["eyJ starts most of them", "ey" + "JhbGciOiJIUzI1NiJ9" + " alone"],
    "url-credentials": [
        "https://user:password@host/",
        "postgres://app:${DB_PASSWORD}@db/x",
        "redis://:<password>@h",
        "https://host:8080/path@2",
        "git@github.com:org/repo.git",
        "postgres://USER:PASSWORD@HOST/DB",
    ],
    "bearer-token": ["Bearer token authentication", "Bearer ${TOKEN}", "Bearer <your-access-token>"],
    "basic-auth": ["basic understanding", "Basic Authorization", "Basic dXNlcjE="],
    "authorization": ["Authorization: required", "authorization: Option<AuthorizationHeaderValue>"],
    "cookie": ["Cookie: theme=dark; lang=en", "Set-Cookie: a=1; Path=/; Max-Age=31536000; SameSite=Lax"],
    "aws-secret-key": ["aws_secret_access_key = <your-key>", "SecretAccessKey: string"],
    "api-key-header": ["x-api-key: $ANTHROPIC_API_KEY", "x-goog-api-key: YOUR_API_KEY"],
    "assignment": [
        "token=token",
        "password=password",
        "def login(user: str, password: str) -> Token:",
        'api_key=os.environ["OPENAI_API_KEY"]',
        "apiKey: process.env.OPENAI_API_KEY2,",
        "API_KEY=${API_KEY}",
        'API_KEY="<your-key>"',
        "password: ********",
        '"max_tokens": 4096, "input_tokens": 12345678, "token_count": "1234567890ab"',
        "secret = get_secret2(name)",
        "token = tokens[index2]",
        '"password": "string"',
        "password: at least 8 characters",
        '"token": "color-primary-500"',
        "token == expected_token_12345",
        "next_page_token=CAUQAA12345678",
        "arn:aws:secretsmanager:*:*:secret:rds-beta-us-east-1x9",
        "secret: projects/demo/secrets/db1/versions/1",
        "class Token2Parser: pass",
        "token: oauth2_token",
        "private_key: x25519.X25519PrivateKey",
    ],
    "secret-flag": ["--password-file /run/secret1", "--token $TOKEN1234567", "--api-key <your-key>"],
}  # fmt: skip

NAMES = sorted({name for rule in rules.TABLE for name in rule.names})


def redacted(text):
    return Redactor.open(b"k").text(text)


def test_every_rule_has_a_vector_and_a_counter_vector():
    assert sorted(VECTORS) == NAMES
    assert sorted(COUNTER_VECTORS) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_rule_removes_its_vector_and_nothing_beside_it(name):
    before, secret, after = VECTORS[name]
    assert redacted(before + secret + after) == f"{before}[REDACTED:{name}:1]{after}"


@pytest.mark.parametrize("name", NAMES)
def test_a_rule_leaves_its_counter_vectors(name):
    assert [redacted(text) for text in COUNTER_VECTORS[name]] == COUNTER_VECTORS[name]


@pytest.mark.parametrize("name", NAMES)
def test_a_vector_is_found_at_any_depth_of_escaping(name):
    document = "".join(VECTORS[name])
    for depth in range(5):
        raw = document.encode()
        assert sieve.may_fire(raw), depth
        assert fired(raw) == (name,), depth
        document = json.dumps({"text": document})


@pytest.mark.parametrize("name", NAMES)
def test_a_vector_whose_every_character_is_escaped_is_found(name):
    text = "".join(VECTORS[name])
    raw = b'{"text":"' + "".join(f"\\u{ord(c):04x}" for c in text).encode() + b'"}'
    assert fired(raw) == (name,)


@pytest.mark.parametrize("name", NAMES)
def test_a_vector_behind_the_letter_of_an_escape_is_found(name):
    text = "first line\n" + "".join(VECTORS[name])
    cut = json.dumps({"text": text}).encode()[:-1]
    assert fired(cut) == (name,)


@pytest.mark.parametrize(
    ("key", "value", "rule"),
    [
        ("password", "hunter2" + "hunter2", "assignment"),
        ("dbPassword", "p@ss" + "phrase", "assignment"),
        ("X-Api-Key", "q7w8" + MIX, "api-key-header"),
        ("SecretAccessKey", "wJalr" + "XUtnFEMI/K7MDENG/bPxRfiCY7q2P0t", "aws-secret-key"),
        ("Authorization", "q7w8" + MIX, "authorization"),
        ("client_secret", "s3cr3t-value-" + "123456", "assignment"),
        ("api key", "q7w8" + MIX, "assignment"),
    ],
)
def test_a_key_that_names_a_secret_makes_one_of_its_value(key, value, rule):
    raw = json.dumps({key: value}).encode()
    assert Redactor.open(b"k").feed(raw) == json.dumps({key: f"[REDACTED:{rule}:1]"}).encode()


@pytest.mark.parametrize(
    "document",
    [
        {"token": "IDENTIFIER", "password": "required", "secret": True, "api_key": 12345678901234},
        {"password": {"type": "string", "minLength": 8}},
        {"required": ["password", "token"]},
        {"password": "Enter your new password, 8 characters"},
        {"token": "string", "apiKey": "${API_KEY_1}", "secret": "/run/secrets/db1"},
        {"nextPageToken": "CAUQAA12345678", "publicKeyToken": "1fc8b3b9a1e18e3b"},
        {"password": "", "token": None},
    ],
)
def test_a_named_value_that_is_no_secret_stays(document):
    raw = json.dumps(document).encode()
    assert Redactor.open(b"k").feed(raw) is raw


def test_a_name_behind_a_colon_is_a_name_unless_it_is_a_segment():
    assert redacted(f"env:TOKEN=q7w8{MIX}") == "env:TOKEN=[REDACTED:assignment:1]"
    assert redacted(f'"AWS::MSK::ApiKey": "{HEX32}"') == f'"AWS::MSK::ApiKey": "{HEX32}"'


def test_a_private_key_that_was_cut_off_is_removed_to_its_end():
    text = "-----BEGIN RSA " + "PRIVATE KEY-----\n" + BODY
    assert redacted(text) == "[REDACTED:private-key:1]\n"


def test_a_private_key_between_line_numbers_is_removed_whole():
    lines = ("-----BEGIN " + "PRIVATE KEY-----\n" + BODY + "-----END PRIVATE KEY-----").split("\n")
    text = "\n".join(f"{n:6}→{line}" for n, line in enumerate(lines, 1))
    assert redacted(text) == "     1→[REDACTED:private-key:1]"


def test_overlapping_rules_make_one_marker_under_the_more_specific_name():
    token = "gh" + "p_" + MIX[:36]
    assert redacted(f'curl -H "Authorization: Bearer {token}"') == (
        'curl -H "Authorization: Bearer [REDACTED:github-token:1]"'
    )


def test_a_quoted_value_in_text_is_removed_to_its_own_closing_quote():
    text = 'said "password": "hunter2\\"and' + 'more2", then'
    assert redacted(text) == 'said "password": "[REDACTED:assignment:1]", then'


def test_every_pattern_of_the_table_compiles():
    patterns = [pattern for rule in rules.TABLE for pattern in rule.patterns]
    assert [re.compile(pattern.pattern).pattern for pattern in patterns] == [p.pattern for p in patterns]
