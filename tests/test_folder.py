import json

import made_store as made
import pytest
from made_store import call_lines, keep, write

from githarness.capture import folder
from githarness.commands.record.result import Options
from githarness.errors import UnreadableError


def tool(name):
    return json.dumps({"name": name, "description": "d", "inputSchema": {"type": "object"}})


def tools(tmp_path, *names):
    for name in names:
        write(tmp_path / "tools" / f"{name}.snap", tool(name))
    return tmp_path / "tools"


def test_the_tools_of_a_folder_are_one_surface_in_the_order_of_their_files(tmp_path):
    surface = folder.surface(tools(tmp_path, "b", "a", "c"))
    assert [spec.name for spec in surface.specs] == ["a", "b", "c"]
    assert (surface.kind, surface.reconstructed) == ("offered", True)


def test_what_is_no_tool_is_passed_over(tmp_path):
    place = tools(tmp_path, "a")
    write(place / "README.md", "# tools")
    write(place / "list.json", f"[{tool('x')}]")
    write(place / "below" / "z.json", tool("z"))
    assert [spec.name for spec in folder.surface(place).specs] == ["a"]


def test_a_folder_without_a_tool_is_said_to_hold_none(tmp_path):
    write(tmp_path / "tools" / "a.json", "{}")
    with pytest.raises(UnreadableError, match="holds no file with one tool"):
        folder.surface(tmp_path / "tools")


def test_a_folder_can_be_named_as_the_surface_of_a_run(tmp_path):
    place = tools(tmp_path, "a", "b")
    given = Options(surface=str(place))
    item = keep(made.store(tmp_path), write(tmp_path / "s", call_lines()), options=given).recorded[0]
    assert item.surface == folder.surface(place).wire
