"""`python -m githarness` is the same as `githarness`."""

from githarness.cli import main

main()
