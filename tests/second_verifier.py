"""A second verifier of main and the ledger, written from docs/format.md alone.

Git, SHA-256, JSON and one Ed25519 check, and nothing of the program's: if the two agree,
the page says enough. It knows ed25519 keys and one policy, which is what its tests need.
"""

import base64
import hashlib
import json
import re
import subprocess

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

LEDGER = "refs/tags/githarness/v1/"
BEGIN, END = b"-----BEGIN SSH SIGNATURE-----\n", b"-----END SSH SIGNATURE-----\n"
TAG = (
    rb"object ([0-9a-f]{40})\ntype (commit|blob)\ntag ([!-~]{1,200})\n"
    rb"tagger githarness <githarness@localhost> (0|[1-9][0-9]{0,11}) \+0000\n\n([ -~]{1,200})\n\n([^\n]+)\n"
)


def git(store, *words):
    return subprocess.run(["git", f"--git-dir={store}", *words], capture_output=True, check=True).stdout


def sha(data):
    return hashlib.sha256(data).hexdigest()


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def need(holds, rule):
    if not holds:
        raise ValueError(rule)


def take(data):
    """Take one length-prefixed string off the front."""
    size = int.from_bytes(data[:4], "big")
    return data[4 : 4 + size], data[4 + size :]


def put(data):
    return len(data).to_bytes(4, "big") + data


def signer(armor, message):
    """Return the fingerprint of the ed25519 key that signed exactly this; ValueError for none."""
    need(armor.startswith(BEGIN) and armor.endswith(END), "signature")
    blob = base64.b64decode(armor[len(BEGIN) : -len(END)].replace(b"\n", b""))
    need(blob[:10] == b"SSHSIG\0\0\0\1", "signature")
    key, rest = take(blob[10:])
    fields = []
    for _ in range(4):
        field, rest = take(rest)
        fields.append(field)
    namespace, reserved, name, proof = fields
    need((namespace, reserved, rest) == (b"git", b"", b""), "namespace")
    digest = hashlib.new({b"sha256": "sha256", b"sha512": "sha512"}[name], message).digest()
    point, numbers = take(take(key)[1])[0], take(take(proof)[1])[0]
    signed = b"SSHSIG" + put(b"git") + put(b"") + put(name) + put(digest)
    try:
        Ed25519PublicKey.from_public_bytes(point).verify(numbers, signed)
    except InvalidSignature:
        raise ValueError("signature") from None
    return "SHA256:" + base64.b64encode(hashlib.sha256(key).digest()).decode().rstrip("=")


def entry(ref, data):
    """Read one tag; ValueError with the rule that it breaks."""
    at = data.index(BEGIN)
    match = re.fullmatch(TAG, data[:at])
    need(match, "grammar")
    target, kind, name, seconds, line, body = match.groups()
    payload = json.loads(body)
    need(canonical(payload) == body, "payload")
    decides = payload["type"] == "githarness.decision.v1"
    about = payload["mutation"] if decides else payload["policy"]
    need(kind == (b"commit" if decides else b"blob"), "target")
    path = f"{'decision' if decides else 'policy'}/{about}/{sha(body)[:32]}"
    need(ref == LEDGER + path and name.decode() == f"githarness/v1/{path}", "name")
    word = payload["decision"] if decides else "policy"
    need(line.decode() == f"githarness {word} {about[:12]} by {payload['principal']}", "subject")
    need(not decides or payload["issued"] == int(seconds), "time")
    need(signer(data[at:], data[:at]) == payload["key"], "key")
    return payload | {"id": sha(body)[:32], "commit": target.decode()}


def entries(store):
    """Read every tag of a ledger, each object hashed."""
    lines = git(store, "for-each-ref", "--format=%(refname) %(objectname)", LEDGER).decode().splitlines()
    found = []
    for ref, oid in map(str.split, lines):
        data = git(store, "cat-file", "tag", oid)
        need(hashlib.sha1(b"tag %d\0" % len(data) + data).hexdigest() == oid, "object")
        found.append(entry(ref, data))
    return found


def rules(store, ledger, found):
    """Return the first policy; ValueError unless it is the pinned one and signed by its root."""
    (agreed,) = (one for one in found if one.get("policy") == ledger and "mutation" not in one)
    data = git(store, "cat-file", "blob", agreed["commit"])
    document = json.loads(data)
    need(canonical(document) == data and sha(data) == ledger, "policy")
    need(holders(document).get(agreed["key"]) in document["root"]["approvers"], "root")
    return document


def holders(document):
    blobs = {text: name for name, texts in document["keys"].items() for text in texts}
    digest = {text: hashlib.sha256(base64.b64decode(text.split()[1])).digest() for text in blobs}
    return {"SHA256:" + base64.b64encode(digest[text]).decode().rstrip("="): blobs[text] for text in blobs}


def state(files):
    """Read the files of main as a state."""
    tools = [files[path].decode().split("\n", 1) for path in files if path.startswith("tools/")]
    return {
        "knobs": {path[6:]: json.loads(files[path]) for path in files if path.startswith("knobs/")},
        "overlay": {sha(files[p][:-1]): files[p][:-1].decode() for p in sorted(files) if p[:8] == "overlay/"},
        "tools": {name: words[:-1] for name, words in tools},
        "declaration": sha(files["harness.toml"]),
    }


def whole(of):
    overlay = [{"id": one, "text": text} for one, text in of["overlay"].items()]
    return sha(canonical({"type": "githarness.state.v1", **of, "overlay": overlay}))


def touched(patch):
    """Return what a patch puts at each key that it touches; None takes it away."""
    knobs = patch.get("set", {}) | dict.fromkeys(patch.get("unset", ()))
    added = {sha(text.encode()): text for text in patch.get("add_guidance", ())}
    tools = patch.get("describe", {}) | dict.fromkeys(patch.get("undescribe", ()))
    overlay = added | dict.fromkeys(patch.get("drop_guidance", ()))
    declared = sha(patch["declare"].encode()) if "declare" in patch else None
    return {"knobs": knobs, "overlay": overlay, "tools": tools, "declaration": declared}


def part(of, keys):
    """Return the digest of the part of a state that has these keys."""
    groups = {name: {key: of[name].get(key) for key in keys[name]} for name in ("knobs", "overlay", "tools")}
    declared = of["declaration"] if keys["declaration"] else None
    return sha(canonical({"type": "githarness.part.v1", **groups, "declaration": declared}))


def changed(of, values):
    """Return a state with these values at these keys."""
    groups = {}
    for name in ("knobs", "overlay", "tools"):
        merged = of[name] | values[name]
        groups[name] = {key: value for key, value in merged.items() if value is not None}
    return groups | {"declaration": values["declaration"] or of["declaration"]}


def back(was, keys):
    groups = {name: {key: was[name].get(key) for key in keys[name]} for name in ("knobs", "overlay", "tools")}
    return groups | {"declaration": was["declaration"] if keys["declaration"] else None}


def tree(store, commit):
    names = git(store, "ls-tree", "-r", "-z", "--name-only", commit).decode().split("\0")[:-1]
    return {name: git(store, "show", f"{commit}:{name}") for name in names}


def fingerprint(document):
    named = {"component": document["contract"]["component"], "patch": document["patch"]}
    return sha(canonical({"type": "githarness.patch.v1", **named}))


def allowed(document, digest, before, after, found, law):
    """Return who approved a landing in so many words."""
    keys = touched(document["patch"])
    wanted = {"mutation": fingerprint(document), "document": digest, "target": "refs/heads/main"}
    wanted |= {"decision": "approve", "result": part(after, keys)}
    rule = law["rules"].get(document["contract"]["component"]) or law["rules"]["*"]
    names = set()
    for said in found:
        fits = all(said.get(name) == value for name, value in wanted.items())
        on_it = fits and said["base"]["state"] == part(before, keys)
        if on_it and holders(law).get(said["key"]) == said["principal"]:
            names.add(said["principal"])
    names &= set(rule["approvers"]) - ({document["proposer"]} if not rule["self_approval"] else set())
    return sorted(names) if len(names) >= rule["threshold"] else []


def replay(store, found, law):
    """Explain main step by step; yield what each did and who allowed it."""
    commits = git(store, "rev-list", "--first-parent", "--reverse", "main").decode().split()
    need(commits[0] == law["main"], "policy-place")
    before, landed = tree(store, commits[0]), {}
    for commit in commits[1:]:
        after = tree(store, commit)
        now = state(before)
        for path in [one for one in before if one.startswith("mutations/") and one not in after]:
            document, was = landed.pop(path)
            now = changed(now, back(was, touched(document["patch"])))
            yield "rollback", fingerprint(document), []
        for path in [one for one in after if one.startswith("mutations/") and one not in before]:
            document, digest = json.loads(after[path]), path[10:-5]
            need((sha(after[path]), canonical(document)) == (digest, after[path]), "document-digest")
            was, now = now, changed(now, touched(document["patch"]))
            landed[path] = document, was
            yield "apply", fingerprint(document), allowed(document, digest, was, now, found, law)
        need(whole(now) == whole(state(after)), "unexplained")
        before = after
