"""The wire encoding of SSH: length-prefixed strings and numbers, read strictly.

What it does not do: it knows no key and no signature.
"""

from githarness.govern.void import VoidError

_LENGTH = 4


class Reader:
    """Read one blob from front to back. Whatever is missing or left over is an error."""

    def __init__(self, data: bytes, what: str) -> None:
        self._data = data
        self._at = 0
        self._what = what

    def take(self, count: int) -> bytes:
        """Return the next `count` bytes."""
        end = self._at + count
        if end > len(self._data):
            raise VoidError("signature", f"the {self._what} is cut short")
        taken = self._data[self._at : end]
        self._at = end
        return taken

    def number(self) -> int:
        """Return the next four bytes as a number."""
        return int.from_bytes(self.take(_LENGTH), "big")

    def string(self) -> bytes:
        """Return the next string."""
        return self.take(self.number())

    def positive(self) -> int:
        """Return the next big number, which must be above zero and in its one shortest form."""
        data = self.string()
        value = int.from_bytes(data, "big", signed=True)
        if value <= 0 or number(value) != data:
            raise VoidError("signature", f"the {self._what} holds a number that is not in its one form")
        return value

    def end(self) -> None:
        """Refuse bytes after the last field: nothing covers them."""
        if self._at != len(self._data):
            raise VoidError("signature", f"bytes follow the last field of the {self._what}")


def string(data: bytes) -> bytes:
    """Encode one string."""
    return len(data).to_bytes(_LENGTH, "big") + data


def number(value: int) -> bytes:
    """Encode a positive big number in as few bytes as it needs, its sign bit included."""
    return value.to_bytes(value.bit_length() // 8 + 1, "big")
