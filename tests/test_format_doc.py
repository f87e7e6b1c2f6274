"""docs/format.md, held to what the program makes and read by a reader that knows the page alone.

The first half is that reader: git, SHA-256 and JSON, and nothing of the program's.
"""

import hashlib
import json
import re
import subprocess
from pathlib import Path

import made_store
import msgspec
import pytest

from githarness import canon
from githarness.formats import detect
from githarness.model import manifest
from githarness.redact.rules import TABLE

# -- a second reader -----------------------------------------------------------

PART = 262_144
SCHEMA_KEYS = ("input_schema", "inputSchema", "parameters")
DROPPED = ("function", "cache_control", "_meta")


def git(store, *words, data=None):
    command = ["git", f"--git-dir={store}", *words]
    return subprocess.run(command, input=data, capture_output=True, check=True).stdout


def files(store, at="recordings"):
    names = git(store, "ls-tree", "-r", "-z", "--name-only", at).decode().split("\0")[:-1]
    return {name: git(store, "show", f"{at}:{name}") for name in names}


def sha(data):
    return hashlib.sha256(data).hexdigest()


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def area(found, folder):
    return {name: data for name, data in found.items() if name.startswith(f"{folder}/")}


def stem(path):
    return path.split("/")[-1].split(".")[0]


def run_id(run):
    if run["native"] is None:
        return run["recording"]["digest"][:32]
    return sha(f"{run['agent']}\0{run['native']}".encode())[:32]


def part_path(digest):
    return f"recordings/{digest[:2]}/{digest[2:4]}/{digest}"


def joined(found, run):
    return b"".join(found[part_path(part["digest"])] for part in run["recording"]["parts"])


def cut(data):
    sizes = []
    while len(data) >= PART and (end := data.find(b"\n", PART - 1)) >= 0:
        sizes.append(end + 1)
        data = data[end + 1 :]
    return sizes + [len(data)] * bool(data)


def lowered(tool):
    rest = {key: value for key, value in tool.items() if key not in DROPPED} | tool.get("function", {})
    if rest.get("type") == "function":
        del rest["type"]
    spec = {"name": rest.pop("name"), "description": rest.pop("description", None)}
    spec["input_schema"] = next((rest.pop(key) for key in SCHEMA_KEYS if key in rest), None)
    spec["rest"] = rest or None
    return {key: value for key, value in spec.items() if value is not None}


def semantic(value):
    return sha(b"githarness.surface.v1\0" + canonical(value))


def sides(value):
    if isinstance(value, dict) and set(value) == {"conflict"}:
        return value["conflict"]
    return [sorted(value, key=lambda one: (one["position"], canonical(one)))]


def join(left, right):
    if not left or not right or left == right:
        return left or right
    every = {canonical(side): side for side in sides(left) + sides(right)}
    kept = [
        side
        for side in every.values()
        if not any(other is not side and all(one in other for one in side) for other in every.values())
    ]
    return kept[0] if len(kept) == 1 else {"conflict": sorted(kept, key=canonical)}


def fnv(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return f"{value:016x}"


def rendered(tool):
    words = (tool["name"].encode(), tool.get("description", "").encode(), canonical(tool["input_schema"]))
    return b"".join(word + b"\0" for word in words)


# -- what it reads -------------------------------------------------------------

DOCS = made_store.ROOT / "docs"
DEMO = made_store.ROOT / "githarness/data/demo"
ANTHROPIC = b"""[
 {"name": "find", "description": "", "input_schema": {"type": "object"}, "cache_control": {"a": 1}},
 {"type": "web_search_20250305", "name": "web_search", "max_uses": 3}]"""
RESPONSES = b"""[{"type": "function", "name": "find", "strict": true, "parameters": {"type": "object"}}]"""
MCP = b"""[{"name": "find", "title": "Find", "inputSchema": {"type": "object"}, "_meta": {"a": 1}}]"""
RECORDED = ("invoice.jsonl", "rollout.jsonl", "shop-run.json", "tools-now.json")


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = made_store.store(tmp_path_factory.mktemp("format"))
    made_store.keep(path, *(DEMO / name for name in RECORDED))
    return path


@pytest.fixture(scope="module")
def found(store):
    return files(store)


@pytest.fixture(scope="module")
def runs(found):
    return [json.loads(data) for data in area(found, "runs").values()]


@pytest.fixture(scope="module")
def sightings(found):
    return {path: json.loads(data) for path, data in area(found, "sightings").items()}


def example():
    """Return the last section of the page."""
    return (DOCS / "format.md").read_text().split("## A worked example")[1]


def citing(run, words):
    """Return the manifest with one citation for each letter, at a position of its own."""
    flags = {"kind": "sent", "reconstructed": False, "withheld": False}
    cited = [{"position": ord(word), "digest": word * 64, **flags} for word in words]
    return run | {"surfaces": cited}


def stored_tools(found, digest):
    return json.loads(found[f"surfaces/{digest[:2]}/{digest[2:4]}/{digest}.json"])


def test_every_file_that_is_named_by_a_digest_hashes_to_it(found):
    named = [path for path in found if path.split("/")[0] in ("recordings", "surfaces", "prompts")]
    assert len(named) == 7
    assert all(sha(found[path]) == stem(path) for path in named)


def test_every_file_stands_under_the_first_digits_of_its_name(found):
    paths = [path.split("/") for path in found if "/" in path]
    assert all((name[:2], name[2:4]) == (aa, bb) for _, aa, bb, name, *_ in paths)


def test_every_manifest_and_sighting_is_canonical_json(found):
    documents = [data for path, data in found.items() if path.startswith(("runs/", "sightings/"))]
    assert all(canonical(json.loads(data)) == data for data in documents)


def test_every_run_id_follows_from_the_manifest_and_names_its_file(found, runs):
    assert sorted(run_id(run) for run in runs) == sorted(map(stem, area(found, "runs")))


def test_every_recording_is_its_parts_joined(found, runs):
    for run in runs:
        whole = joined(found, run)
        assert (sha(whole), len(whole)) == (run["recording"]["digest"], run["recording"]["bytes"])


def test_every_cited_surface_and_prompt_is_there(found, runs):
    cited = {one["digest"] for run in runs for one in (*run["surfaces"], *run["prompts"])}
    assert cited <= set(map(stem, found))
    assert len(cited) == 3


def test_every_surface_has_the_semantic_digests_of_its_sighting(found, sightings):
    for seen in sightings.values():
        tools = [lowered(tool) for tool in stored_tools(found, seen["surface"])]
        assert seen["semantic"] == semantic(tools)
        assert [tool["digest"] for tool in seen["tools"]] == [semantic(tool) for tool in tools]


@pytest.mark.parametrize("array", [ANTHROPIC, RESPONSES, MCP])
def test_other_dialects_are_lowered_as_the_page_says(tmp_path, array):
    path = made_store.store(tmp_path)
    made_store.keep(path, made_store.write(tmp_path / "tools.json", array))
    (seen,) = (json.loads(data) for data in area(files(path), "sightings").values())
    assert seen["surface"] == sha(array)
    assert seen["semantic"] == semantic([lowered(tool) for tool in json.loads(array)])


def test_every_surface_has_the_64_bit_value_of_its_sighting(found, sightings):
    for seen in sightings.values():
        tools = [lowered(tool) for tool in stored_tools(found, seen["surface"])]
        assert seen["fnv"] == fnv(b"".join(map(rendered, tools)))


def test_the_vectors_of_the_64_bit_value_are_those_of_the_page():
    page = (DOCS / "format.md").read_text()
    assert f"| `abc` | `{fnv(b'abc')}` |" in page
    assert fnv(b'build\0Build it.\0{"type":"object"}\0') in page


def test_the_semantic_digest_of_no_tools_is_that_of_the_page():
    assert f"`{semantic([])}`" in (DOCS / "format.md").read_text()


def test_every_sighting_stands_under_the_key_of_its_kind_and_source(sightings):
    for path, seen in sightings.items():
        assert stem(path) == sha(f"{seen['kind']}\0{seen['source']}".encode())[:32]


@pytest.mark.parametrize(
    ("ours", "theirs", "third"),
    [
        ("", "a", "a"),
        ("a", "ab", "b"),
        ("a", "b", "ab"),
        ("a", "b", "c"),
        ("ab", "bc", "b"),
        ("ba", "c", "ab"),
    ],
)
def test_two_manifests_of_one_run_join_by_the_rule_of_the_page(runs, ours, theirs, third):
    runs = [citing(runs[0], words) for words in (ours, theirs, third)]
    first = join(runs[0]["surfaces"], runs[1]["surfaces"])
    made = [msgspec.convert(run, type=manifest.Run) for run in runs]
    both = manifest.merge(made[0], made[1])
    assert json.loads(canon.encode(both))["surfaces"] == first
    merged = manifest.merge(both, made[2])
    assert json.loads(canon.encode(merged))["surfaces"] == join(first, runs[2]["surfaces"])


def test_a_long_recording_is_cut_by_the_rule_of_the_page(tmp_path):
    path = made_store.store(tmp_path)
    made_store.keep(path, made_store.write(tmp_path / "long.jsonl", made_store.call_lines(calls=1500)))
    found = files(path)
    (run,) = (json.loads(data) for data in area(found, "runs").values())
    sizes = [part["bytes"] for part in run["recording"]["parts"]]
    assert len(sizes) > 1
    assert cut(joined(found, run)) == sizes


def test_the_root_of_recordings_is_the_one_of_the_page(store):
    root = git(store, "rev-list", "--max-parents=0", "recordings").decode().strip()
    tree = git(store, "rev-parse", f"{root}^{{tree}}").decode().strip()
    blob = git(store, "rev-parse", f"{root}:.gitattributes").decode().strip()
    assert re.findall(r"\| `([0-9a-f]{40})` \|", example()) == [root, tree, blob]


def test_the_attributes_are_the_line_of_the_page_on_both_branches(store):
    line = "* -text -ident -filter -working-tree-encoding\n"
    assert f"    {line}" in (DOCS / "format.md").read_text()
    for at in ("main", "recordings"):
        assert git(store, "show", f"{at}:.gitattributes").decode() == line


def test_the_example_lists_every_path_of_the_store(found):
    listed = example().split("```text\n")[1].split("```")[0].split()
    assert listed == [path for path in found if path != ".gitattributes"]


def test_the_manifest_of_the_example_is_the_stored_one(found):
    shown = example().split("```json\n")[1].split("```")[0]
    assert shown.replace("\n", "").encode() in area(found, "runs").values()


def test_the_lowered_tool_of_the_example_is_the_first_of_its_surface(found, sightings):
    shown = example().split("```json\n")[2].split("```")[0].replace("\n", "")
    tools = [lowered(stored_tools(found, seen["surface"])[0]) for seen in sightings.values()]
    assert [canonical(tool).decode() for tool in tools] == [shown, shown]


def test_every_identity_in_the_example_is_one_of_the_stored_sightings(sightings):
    rows = re.findall(r"^\| (\S+) \| `([0-9a-f]+)` \| `([0-9a-f]+)` \|$", example(), re.MULTILINE)
    shown = [[now for _, _, now in rows], [then for _, then, _ in rows]]
    made = [
        [seen["surface"], seen["semantic"], seen["fnv"], *(tool["digest"] for tool in seen["tools"])]
        for seen in sightings.values()
    ]
    assert sorted(shown) == sorted(made)


def test_the_commands_of_the_example_print_what_the_page_says():
    printed = re.findall(r"\$ printf '([^']*)' \| sha256sum\n    ([0-9a-f]{64})", example())
    assert len(printed) == 3
    for words, digest in printed:
        assert sha(re.sub(r"\\0(00)?", "\0", words).encode()) == digest


def test_every_digest_in_the_example_is_of_this_store(found):
    known = set(re.findall(r"[0-9a-f]{64}", "".join(found) + b"".join(found.values()).decode()))
    printed = set(re.findall(r"sha256sum\n    ([0-9a-f]{64})", example()))
    assert set(re.findall(r"[0-9a-f]{64}", example())) <= known | printed


def test_the_sizes_and_the_marker_of_the_example_are_those_of_the_store(runs):
    (run,) = (run for run in runs if run["recording"]["redactions"])
    assert run["recording"]["redactions"] == {"github-token": 1}
    sizes = [int(size) for size in re.findall(r"(\d{4})(?= bytes|\nbytes)", example())]
    assert sizes == [run["recording"]["source_bytes"], run["recording"]["bytes"]]


# -- the other pages -----------------------------------------------------------


def fields(name):
    """Return the first column of the tables of one section of the page."""
    section = (DOCS / "format.md").read_text().split(f"\n## {name}\n")[1].split("\n## ")[0]
    cells = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \| [a-zS16]", section, re.MULTILINE)
    return {word for cell in cells for word in re.findall(r"`(\w+)`", cell)}


def keys(value):
    """Return every key of a document, other than those that are data."""
    if isinstance(value, list):
        return set().union(*map(keys, value))
    if not isinstance(value, dict):
        return set()
    data = {"unfamiliar", "redactions", "parts", "tools"}
    return set(value).union(*(keys(item) for key, item in value.items() if key not in data))


def test_the_page_has_every_field_of_a_manifest_and_no_other(runs):
    assert fields("Manifests") == set().union(*map(keys, runs))


def test_the_page_has_every_field_of_a_sighting_and_no_other(sightings):
    assert fields("Sightings") == set().union(*map(keys, sightings.values()))


def test_every_format_that_is_read_has_a_section_and_a_row():
    page = (DOCS / "formats.md").read_text()
    assert set(re.findall(r"^### (\S+)$", page, re.MULTILINE)) == set(detect.names())
    assert set(re.findall(r"^\| `(\S+)` \|", page, re.MULTILINE)) == set(detect.names())


def test_every_redaction_rule_has_a_row_in_the_order_of_the_table():
    names = dict.fromkeys(name for rule in TABLE for name in rule.names)
    page = (DOCS / "redaction.md").read_text().split("## The rules")[1].split("## ")[0]
    assert re.findall(r"^\| `([a-z-]+)` \|", page, re.MULTILINE) == list(names)


@pytest.mark.parametrize("name", ["format.md", "formats.md", "limits.md", "redaction.md"])
def test_the_prose_of_a_page_fits_eighty_columns(name):
    prose = re.sub(r"^```.*?^```$", "", Path(DOCS, name).read_text(), flags=re.MULTILINE | re.DOTALL)
    long = [line for line in prose.splitlines() if len(line) > 80 and not line.startswith(("|", "    "))]
    assert long == []
