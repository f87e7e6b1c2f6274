"""Plain tables: columns aligned, every cell escaped, no colours and no borders.

What it closes: tables that a pipe cannot cut and a hostile name can redraw. The
decision: two spaces between columns, the last column as it comes. What it does not
do: it wraps nothing.
"""

from collections.abc import Mapping, Sequence

from githarness.render import escape


def table(head: Sequence[str], rows: Sequence[Sequence[str]], most: Mapping[int, int]) -> str:
    """Render rows under a heading; the empty string for no rows.

    `most` says how wide a column may be, where anybody could fill it. Cells come
    unescaped: what is escaped twice reads as something that was not there.
    """
    if not rows:
        return ""
    cells = [tuple(head), *(_row(row, most) for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head) - 1)]
    lines = []
    for row in cells:
        padded = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        lines.append("  ".join([*padded, row[-1]]).rstrip())
    return "\n".join(lines)


def _row(row: Sequence[str], most: Mapping[int, int]) -> tuple[str, ...]:
    return tuple(
        escape.short(cell, most[column]) if column in most else escape.line(cell)
        for column, cell in enumerate(row)
    )
