"""The table of design: what lives where, and what it may import."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "githarness"

WORDS = {"errors", "canon", "model", "redact"}
ALLOWED = {
    "errors": set(),
    "canon": {"errors"},
    "model": {"errors", "model"},
    "redact": {"errors", "redact"},
    "formats": WORDS | {"formats"},
    "measure": WORDS | {"measure"},
    "propose": WORDS | {"measure", "propose"},
    "govern": WORDS | {"measure", "propose", "govern"},
    "store": WORDS | {"store"},
    "capture": WORDS | {"formats", "capture"},
    "drive": WORDS | {"formats", "measure", "drive"},
    "render": WORDS | {"measure", "propose", "govern", "render"},
    "commands": WORDS
    | {"formats", "measure", "propose", "govern", "store", "capture", "drive", "render", "commands"},
    "cli": {"commands", "render", "store", "errors", "cli", "(root)"},
}
# Libraries that may be imported in one place only.
ONLY_IN = {
    "click": {"cli"},
    "git": {"store/history", "store/sync"},
    "pydantic": {"propose", "govern"},
    "cryptography": {"govern"},
    "rich": {"render"},
    "jsonschema": {"measure/changes"},
    "subprocess": {"store", "capture", "drive", "commands/demo"},
    "sqlite3": {"capture", "store"},
}
PURE = {"formats", "measure", "propose", "govern", "canon", "model", "redact", "render"}
IMPURE_MODULES = {
    "os", "subprocess", "socket", "random", "secrets", "time", "tempfile", "shutil", "io", "sys", "pathlib",
}  # fmt: skip


def modules():
    return sorted(PACKAGE.rglob("*.py"))


def place(path):
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    if parts[-1] == "__init__":
        parts = parts[:-1]
    if not parts or parts == ("__main__",):
        return "(root)"
    return "cli" if parts[0].startswith("cli") else parts[0]


def imported(path):
    """Yield (dotted name, node depth is module level) of every import in a file."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: relative import"
            for alias in node.names:
                yield f"{node.module}.{alias.name}"
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "import_module":
            # where start-up time counts
            yield from (word.value for word in node.args if isinstance(word, ast.Constant))


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_nothing_imports_upwards(path):
    here = place(path)
    if here == "(root)":
        return
    for name in imported(path):
        if name.startswith("githarness."):
            target = name.split(".")[1]
            target = "(root)" if target.startswith("__") else "cli" if target.startswith("cli") else target
            assert target in ALLOWED[here], f"{here} may not import {name}"


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_a_library_is_imported_only_where_the_table_allows(path):
    where = path.relative_to(PACKAGE).with_suffix("").as_posix()
    for name in imported(path):
        homes = ONLY_IN.get(name.split(".")[0])
        assert homes is None or any(where.startswith(home) for home in homes), f"{where} imports {name}"


@pytest.mark.parametrize("path", [p for p in modules() if place(p) in PURE], ids=lambda p: str(p.name))
def test_a_pure_module_reaches_no_disk_clock_randomness_or_environment(path):
    assert not {name.split(".")[0] for name in imported(path)} & IMPURE_MODULES


def test_formats_are_strangers_to_each_other():
    shared = {"api", "peek", "cut", "exchange", "history", "payload"}  # no formats: what several readers need
    for path in (PACKAGE / "formats").glob("*.py"):
        if path.stem in {"detect", "__init__", *shared}:
            continue
        for name in imported(path):
            if name.startswith("githarness.formats."):
                sibling = name.split(".")[2]
                own = sibling.split("_")[0] == path.stem.split("_")[0]
                assert sibling in shared or own, f"{path.stem} knows {sibling}"


def test_commands_are_strangers_to_each_other():
    # what several verbs read the same way
    no_verbs = {"filed", "story", "inputs", "gather", "filters"}
    no_verbs |= {"governed", "mainline", "signed", "kept", "heard", "replayed", "settled", "ruled", "picked"}
    for path in (PACKAGE / "commands").glob("*.py"):
        siblings = {n.split(".")[2] for n in imported(path) if n.startswith("githarness.commands.")}
        assert siblings <= no_verbs, f"{path.stem} imports {siblings}"
