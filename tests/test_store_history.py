import pytest
from made_branch import blob, commit, head, land, tree
from stores import NOW, git, made

from githarness.errors import CorruptError, MissingError
from githarness.store import history, layout
from githarness.store.find import open_store
from githarness.store.history import Difference


def steps(path, root, tip=None):
    with open_store(path) as store:
        return list(history.steps(store, root, tip or head(path)))


def test_a_step_is_what_it_changed_with_the_bytes_before_and_after(tmp_path):
    path = made(tmp_path)
    root = head(path)
    land(path, {"knobs/a": b"1\n", "knobs/b": b"2\n"})
    land(path, {"knobs/a": b"3\n", "mutations/x.json": b"{}"}, removes=["knobs/b"], message="apply: x\n")
    assert steps(path, root)[1].changed == (
        Difference(path="knobs/a", old=b"1\n", new=b"3\n"),
        Difference(path="knobs/b", old=b"2\n", new=None),
        Difference(path="mutations/x.json", old=None, new=b"{}"),
    )


def test_steps_come_oldest_first_and_each_stands_on_the_last(tmp_path):
    path = made(tmp_path)
    root = head(path)
    landed = [land(path, {"knobs/a": b"%d\n" % number}, now=NOW + number) for number in range(5)]
    found = steps(path, root)
    assert [step.commit for step in found] == landed
    assert [step.parent for step in found] == [root, *landed[:-1]]
    assert [step.time - NOW for step in found] == [0, 1, 2, 3, 4]


def test_the_message_of_a_step_is_whole(tmp_path):
    path = made(tmp_path)
    root = head(path)
    land(path, {"a": b"1"}, message="apply: ü\n\nMutation: ab\n")
    assert steps(path, root)[0].message == "apply: ü\n\nMutation: ab\n"


def test_from_a_commit_to_itself_there_is_no_step(tmp_path):
    path = made(tmp_path)
    assert steps(path, head(path)) == []


def test_a_root_that_is_no_ancestor_is_missing_before_the_first_step(tmp_path):
    path = made(tmp_path)
    land(path, {"a": b"1"})
    with open_store(path) as store, pytest.raises(MissingError, match="not in the first-parent history"):
        history.steps(store, store.recordings(), head(path))


def test_a_merge_is_one_step_against_its_first_parent(tmp_path):
    path = made(tmp_path)
    root = head(path)
    side = land(path, {"knobs/side": b"1\n"})
    git(path, "update-ref", layout.MAIN, root)
    first = land(path, {"knobs/a": b"1\n"})
    entries = ((b"100644", b"a", blob(path, b"1\n")), (b"100644", b"side", blob(path, b"1\n")))
    merge = commit(path, tree(path, (b"40000", b"knobs", tree(path, *entries))), first, side)
    found = steps(path, root, merge)
    assert [step.commit for step in found] == [first, merge]
    assert Difference(path="knobs/side", old=None, new=b"1\n") in found[1].changed


def test_a_root_that_only_a_second_parent_reaches_is_missing(tmp_path):
    path = made(tmp_path)
    root = head(path)
    side = land(path, {"a": b"1"})
    git(path, "update-ref", layout.MAIN, root)
    merge = commit(path, tree(path, (b"100644", b"a", blob(path))), land(path, {"b": b"1"}), side)
    with pytest.raises(MissingError):
        steps(path, side, merge)


def test_a_file_that_becomes_a_folder_is_removed_and_its_files_are_new(tmp_path):
    path = made(tmp_path)
    before = commit(path, tree(path, (b"100644", b"a", blob(path, b"1"))))
    inside = tree(path, (b"100644", b"b", blob(path, b"2")))
    after = commit(path, tree(path, (b"40000", b"a", inside)), before)
    assert steps(path, before, after)[0].changed == (
        Difference(path="a", old=b"1", new=None),
        Difference(path="a/b", old=None, new=b"2"),
    )


@pytest.mark.parametrize("mode", [b"100755", b"120000", b"160000"])
def test_a_file_that_turns_into_something_else_is_a_fault_of_that_step_alone(tmp_path, mode):
    path = made(tmp_path)
    one = blob(path, b"1")
    before = commit(path, tree(path, (b"100644", b"a", one)))
    odd = commit(path, tree(path, (mode, b"a", one)), before)
    later = commit(path, tree(path, (mode, b"a", one), (b"100644", b"b", one)), odd)
    found = steps(path, before, later)
    assert [[fault.path for fault in step.faults] for step in found] == [["a"], []]
    assert found[0].changed == (Difference(path="a", old=b"1", new=None),)


def test_a_file_that_comes_back_from_being_a_link_is_new(tmp_path):
    path = made(tmp_path)
    one = blob(path, b"1")
    odd = commit(path, tree(path, (b"120000", b"a", one)))
    after = commit(path, tree(path, (b"100644", b"a", one)), odd)
    assert steps(path, odd, after)[0].changed == (Difference(path="a", old=None, new=b"1"),)


def test_a_file_that_is_too_large_is_a_fault_and_the_next_one_is_read(tmp_path):
    path = made(tmp_path)
    root = head(path)
    land(path, {"a": b"x" * (1 << 20) + b"x", "b": b"1"})
    found = steps(path, root)[0]
    assert [fault.path for fault in found.faults] == ["a"]
    assert found.changed[1] == Difference(path="b", old=None, new=b"1")


def test_a_commit_graph_that_lies_is_not_asked(tmp_path):
    path = made(tmp_path)
    root = head(path)
    landed = [land(path, {"a": b"%d" % number}) for number in range(3)]
    git(path, "commit-graph", "write", "--reachable")
    graph = path / "objects/info/commit-graph"
    graph.chmod(0o600)
    graph.write_bytes(graph.read_bytes().replace(bytes.fromhex(landed[1]), bytes.fromhex(root)))
    assert [step.commit for step in steps(path, root)] == landed


def test_a_graft_and_a_replace_ref_change_no_history(tmp_path):
    path = made(tmp_path)
    root = head(path)
    landed = [land(path, {"a": b"%d" % number}) for number in range(3)]
    git(path, "replace", landed[1], root)
    (path / "info/grafts").write_text(f"{landed[2]} {root}\n")
    (path / "shallow").write_text(f"{landed[1]}\n")
    assert [step.commit for step in steps(path, root)] == landed


def test_a_commit_that_is_none_is_damage_and_no_traceback(tmp_path):
    path = made(tmp_path)
    body = b"tree " + b"0" * 40 + b"\nnonsense\n"
    odd = git(path, "hash-object", "-w", "--stdin", "--literally", "-t", "commit", data=body)
    with pytest.raises(CorruptError, match="does not read as a commit"):
        steps(path, head(path), odd.decode().strip())


def test_a_step_whose_file_is_gone_is_damage_with_its_path(tmp_path):
    path = made(tmp_path)
    gone = "0" * 39 + "1"
    odd = commit(path, tree(path, (b"100644", b"a", blob(path))), head(path))
    listed = git(path, "cat-file", "tree", f"{odd}^{{tree}}").replace(
        bytes.fromhex(blob(path)), bytes.fromhex(gone)
    )
    root = git(path, "hash-object", "-w", "--stdin", "--literally", "-t", "tree", data=listed)
    with pytest.raises(CorruptError, match=rf"{gone} \(a\).*missing"):
        steps(path, head(path), commit(path, root.decode().strip(), head(path)))


def test_one_step_can_be_asked_for_alone(tmp_path):
    path = made(tmp_path)
    landed = land(path, {"a": b"1"})
    with open_store(path) as store:
        assert history.step(store, landed).changed == (Difference(path="a", old=None, new=b"1"),)
        with pytest.raises(MissingError, match="no parent"):
            history.step(store, history.step(store, landed).parent)
