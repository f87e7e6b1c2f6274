"""Guards for every test: no HOME, no inherited git variables, no network."""

import os
import socket

import pytest

LOOPBACK = ("127.", "::1", "localhost")


@pytest.fixture(autouse=True)
def hermetic(tmp_path, monkeypatch):
    """Nothing of the machine reaches a test, and nothing of a test the machine."""
    for name in [n for n in os.environ if n.startswith(("GIT_", "GITHARNESS_", "XDG_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "no-home"))
    connect = socket.socket.connect

    def guarded(self, address):
        if isinstance(address, tuple) and not str(address[0]).startswith(LOOPBACK):
            raise AssertionError(f"a test tried to reach {address[0]}")
        return connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)
