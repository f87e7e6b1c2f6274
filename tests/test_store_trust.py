import json
import stat

import pytest
from stores import python

from githarness.errors import StorageError, UnreadableError
from githarness.store import trust
from githarness.store.trust import Pin

LEDGER = "ab" * 32
PIN = Pin(ledger=LEDGER, heads=("1" * 32,), main="2" * 40, states=("cd" * 32,))
COUNTER = """
import sys
from pathlib import Path
from githarness.store import trust
from githarness.store.trust import Pin
folder, number = Path(sys.argv[1]), sys.argv[2]
for turn in range(15):
    trust.update(folder, Path("/s") , lambda old: Pin(
        ledger="ab" * 32, heads=(*(old.heads if old else ()), f"{number}-{turn}")))
"""


def pinned(folder, store="/s", pin=PIN):
    return trust.update(folder, store, lambda _: pin)


def written(folder, text):
    """Put a file where the pins stand."""
    folder.mkdir(exist_ok=True)
    path = folder / trust.NAME
    path.write_bytes(text if isinstance(text, bytes) else json.dumps(text).encode())
    path.chmod(0o600)
    return path


@pytest.fixture
def store(tmp_path):
    return tmp_path / "s.git"


def test_a_store_that_was_never_pinned_has_no_pin(tmp_path, store):
    assert trust.read(tmp_path / "none", store) is None


def test_a_pin_comes_back_whole(tmp_path, store):
    trust.update(tmp_path, store, lambda _: PIN)
    assert trust.read(tmp_path, store) == PIN


def test_the_file_is_pinned_to_the_byte(tmp_path, store):
    trust.update(tmp_path, store, lambda _: Pin(ledger=LEDGER))
    assert (tmp_path / trust.NAME).read_bytes() == (
        b'{"stores":{"%s":{"heads":[],"ledger":"%s","main":null,"states":[]}},"type":"githarness.trust.v1"}\n'
        % (str(store).encode(), LEDGER.encode())
    )


def test_the_file_is_its_owners_alone(tmp_path, store):
    folder = tmp_path / "config"
    trust.update(folder, store, lambda _: PIN)
    assert stat.S_IMODE((folder / trust.NAME).stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_change_is_given_what_stands_and_other_stores_stay(tmp_path, store):
    other = tmp_path / "other.git"
    trust.update(tmp_path, other, lambda _: Pin(ledger="ef" * 32))
    trust.update(tmp_path, store, lambda _: PIN)
    seen = []
    trust.update(tmp_path, store, lambda old: seen.append(old))
    assert seen == [PIN]
    assert trust.pins(tmp_path) == {str(other): Pin(ledger="ef" * 32)}


def test_nothing_is_written_when_nothing_changes(tmp_path, store):
    trust.update(tmp_path, store, lambda _: PIN)
    before = (tmp_path / trust.NAME).stat().st_ino
    trust.update(tmp_path, store, lambda old: old)
    assert (tmp_path / trust.NAME).stat().st_ino == before


def test_a_link_to_a_store_is_held_to_what_the_store_is(tmp_path, store):
    store.mkdir()
    (tmp_path / "link").symlink_to(store)
    trust.update(tmp_path, store, lambda _: PIN)
    assert trust.read(tmp_path, tmp_path / "link") == PIN


def test_a_store_whose_path_is_no_utf8_has_a_pin_of_its_own(tmp_path):
    odd = tmp_path / "s\udcff"
    trust.update(tmp_path, odd, lambda _: PIN)
    assert trust.read(tmp_path, odd) == PIN
    assert trust.read(tmp_path, tmp_path / "s\ufffd") is None


def test_four_that_pin_at_once_lose_nothing(tmp_path):
    folder = tmp_path / "config"
    pinners = [python(COUNTER, folder, number) for number in range(4)]
    assert [pinner.wait() for pinner in pinners] == [0, 0, 0, 0]
    (pin,) = trust.pins(folder).values()
    assert sorted(pin.heads) == sorted(f"{number}-{turn}" for number in range(4) for turn in range(15))


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"[]",
        b"\xff",
        b"[" * 2000,
        {"type": "githarness.trust.v2", "stores": {}},
        {"type": "githarness.trust.v1"},
        {"type": "githarness.trust.v1", "stores": {}, "more": 1},
        {"type": "githarness.trust.v1", "stores": {"/s": {}}},
        {"type": "githarness.trust.v1", "stores": {"/s": {"ledger": "AB" * 32}}},
        {"type": "githarness.trust.v1", "stores": {"/s": {"ledger": LEDGER + "\n"}}},
        {"type": "githarness.trust.v1", "stores": {"/s": {"ledger": LEDGER, "states": ["x"]}}},
        {"type": "githarness.trust.v1", "stores": {"/s": {"ledger": LEDGER, "head": []}}},
        b'{"type":"githarness.trust.v1","stores":{},"stores":{}}',
    ],
)
def test_a_file_that_cannot_be_read_is_an_error_and_never_no_trust(tmp_path, store, text):
    written(tmp_path, text)
    with pytest.raises(UnreadableError, match=r"trust\.json"):
        trust.read(tmp_path, store)


def test_a_file_that_cannot_be_read_is_not_written_over(tmp_path, store):
    path = written(tmp_path, b"{")
    with pytest.raises(UnreadableError):
        trust.update(tmp_path, store, lambda _: PIN)
    assert path.read_bytes() == b"{"


@pytest.mark.parametrize("make", ["mkdir", "dangling"])
def test_a_name_that_is_no_file_is_an_error(tmp_path, store, make):
    path = tmp_path / trust.NAME
    path.mkdir() if make == "mkdir" else path.symlink_to(tmp_path / "nothing")
    with pytest.raises(UnreadableError, match="cannot be read"):
        trust.read(tmp_path, store)


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_can_write_is_not_believed(tmp_path, store, mode):
    trust.update(tmp_path, store, lambda _: PIN)
    (tmp_path / trust.NAME).chmod(mode)
    with pytest.raises(UnreadableError, match="written by others"):
        trust.read(tmp_path, store)


def test_a_pin_that_holds_no_digest_is_not_written(tmp_path, store):
    with pytest.raises(UnreadableError, match="a digest that is none"):
        trust.update(tmp_path, store, lambda _: Pin(ledger="x"))
    assert trust.read(tmp_path, store) is None


def test_a_folder_that_cannot_be_made_is_said(tmp_path, store):
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="cannot be made"):
        trust.update(tmp_path / "file" / "config", store, lambda _: PIN)


def test_a_pinner_that_is_killed_leaves_the_old_file_or_the_new_one(tmp_path, store):
    trust.update(tmp_path, store, lambda _: PIN)
    pinner = python(COUNTER.replace("range(15)", "range(10**6)"), tmp_path, 1)
    before = (tmp_path / trust.NAME).stat().st_ino
    while (tmp_path / trust.NAME).stat().st_ino == before:
        assert pinner.poll() is None
    pinner.kill()
    pinner.wait()
    assert trust.read(tmp_path, store) == PIN
