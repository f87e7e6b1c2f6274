import os
import socket
from pathlib import Path

import pytest


def test_a_test_cannot_reach_the_network():
    with socket.socket() as peer, pytest.raises(AssertionError, match="tried to reach"):
        peer.connect(("192.0.2.1", 80))


def test_a_test_has_no_home_and_no_inherited_git_variables():
    assert not Path(os.environ["HOME"]).exists()
    assert not [name for name in os.environ if name.startswith("GIT_")]
