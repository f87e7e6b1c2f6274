"""The demo: what it prints can be typed, and it leaves nothing of the user's changed."""

import json
import os
import subprocess
import sys

from made_store import ROOT, answer, cli


def test_the_demo_as_json_is_one_object_with_every_step(tmp_path):
    code, said = answer("demo", env={"TMPDIR": str(tmp_path)})
    assert (code, said["schema"], said["store"]) == (0, "githarness/demo/1", None)
    assert {frozenset(step) for step in said["steps"]} == {frozenset({"command", "exit_code", "stdout"})}
    assert said["steps"][0]["command"] == "githarness init"


def test_every_command_of_a_kept_demo_gives_the_same_again(tmp_path):
    said = answer("demo", "--keep", tmp_path / "s", env={"TMPDIR": str(tmp_path)})[1]
    again = [step for step in said["steps"] if step["command"].split()[1] in ("show", "fidelity", "diff")]
    assert len(again) > 4
    for step in again:
        assert typed(step["command"], tmp_path) == (step["exit_code"], step["stdout"])


def typed(command, tmp_path):
    """Run a printed command as a person would, from the folder that the demo names."""
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "GITHARNESS_STORE": str(tmp_path / "s")}
    script = command.replace("githarness", f"{sys.executable} -m githarness", 1)
    folder = ROOT / "githarness" / "data" / "demo"
    done = subprocess.run(["sh", "-c", script], cwd=folder, env=env, capture_output=True, check=False)
    return done.returncode, done.stdout.decode()


def test_the_folder_and_the_store_are_said_once_at_the_top(tmp_path):
    shown = cli("demo", "--keep", tmp_path / "s").stdout.decode()
    first = [line for line in shown.splitlines() if line.startswith("$")][:3]
    assert [line.split()[1] for line in first] == ["cd", "export", "githarness"]
    assert (shown.count("$ cd"), f"GITHARNESS_STORE={tmp_path / 's'}" in first[1]) == (1, True)


def test_the_demo_writes_nothing_of_the_users(tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "t").mkdir()
    done = cli("demo", env={"HOME": str(tmp_path / "home"), "TMPDIR": str(tmp_path / "t")})
    assert (done.returncode, list((tmp_path / "home").rglob("*"))) == (0, [])


def test_a_step_that_goes_wrong_is_told_and_ends_the_demo(tmp_path):
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "file").touch()
    done = cli("--json", "demo", "--keep", tmp_path / "s")
    assert (done.returncode, json.loads(done.stdout)["kind"]) == (3, "unable")
