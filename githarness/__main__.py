"""The program: `githarness`, and `python -m githarness`.

The gap this closes: before it ends, Python frees everything that a process holds, one
by one; for pydantic and cryptography that takes 30 ms, and a hook waits for it. The
decision: when all is written, the process ends at once. What this does not do: it
swallows no error of the last write.
"""

import os
import sys

from githarness.cli import main
from githarness.errors import OK, UNABLE


def run() -> None:
    """Run the program, and end."""
    code = OK
    try:
        main()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else OK if ended.code is None else UNABLE
    for stream in (sys.stdout, sys.stderr):
        try:
            # an output that was closed from the start is None
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            code = UNABLE
    os._exit(code)


if __name__ == "__main__":
    run()
