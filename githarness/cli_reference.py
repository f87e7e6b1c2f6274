"""The command reference: every verb's help, as the document that the docs keep.

Run `python -m githarness.cli_reference > docs/cli.md`; a test keeps both equal.
"""

import click

from githarness.cli import VERBS, verbs

_HEAD = """# Command reference

Written by `make docs` from `--help`; a test keeps it equal.
"""


def reference() -> str:
    """Return docs/cli.md."""
    parts = [_HEAD, _section("githarness", verbs, None)]
    with click.Context(verbs, info_name="githarness", **verbs.context_settings) as parent:
        for name in VERBS:
            command = verbs.get_command(parent, name)
            if command is not None:
                parts.append(_section(f"githarness {name}", command, parent))
    return "\n".join(parts)


def _section(title: str, command: click.Command, parent: click.Context | None) -> str:
    context = click.Context(
        command,
        info_name=title.rsplit(maxsplit=1)[-1],
        parent=parent,
        terminal_width=80,
        max_content_width=80,
        **(verbs.context_settings if parent is None else {}),
    )
    return f"## {title}\n\n```text\n{command.get_help(context)}\n```\n"


if __name__ == "__main__":
    click.echo(reference(), nl=False)
