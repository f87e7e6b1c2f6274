"""Inabilities and refusals: every way in which a command ends without an answer.

The gap this closes: "no", "cannot tell" and "could not look" are three answers,
and a program that mixes them teaches people to ignore its exit code. The
decision: an answer, also a negative one, is a value; what ends a command before
it has one is raised: an inability, or a refusal, which is a "no" that left
everything as it was. Each class fixes the exit code and the `kind` that scripts
read, and every instance carries the exact next command. What this does not do: it
prints nothing and exits nowhere; `cli.py` catches once.

Naming rule: a class is named after what was found, not after who raises it.
"""

OK = 0
NO = 1
USAGE = 2
UNABLE = 3
UNKNOWN = 4
INTERRUPTED = 130


class HarnessError(Exception):
    """Something could not be answered; `hint` says what to run next."""

    kind = "unable"
    exit_code = UNABLE

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(HarnessError):
    """The words of the call do not fit together; nothing was looked at."""

    kind = "usage"
    exit_code = USAGE


class MissingError(HarnessError):
    """What was named is not there. Absent is not empty, so this is never a value."""

    kind = "missing"


class UnreadableError(HarnessError):
    """Input that is there and cannot be understood, with the reason in words."""

    kind = "unreadable"


class CorruptError(HarnessError):
    """Stored bytes that do not hash to their name. Restore them from a copy."""

    kind = "corrupt"


class LockedError(HarnessError):
    """A git lock file stands in the way. It is named, and never deleted by us."""

    kind = "locked"


class StorageError(HarnessError):
    """The disk is full, or the store may not be written. Nothing was moved."""

    kind = "storage"


class RefusedError(HarnessError):
    """The answer is no, and nothing was done; the reason is the message."""

    kind = "refused"
    exit_code = NO
