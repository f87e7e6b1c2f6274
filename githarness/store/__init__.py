"""The git store: every effect on git and on the disk of a store lives here.

Nothing in here knows an agent, a tool or a transcript: bytes go in under a name
and come out checked against it. Every path and ref is spelled in `layout`.
"""
