"""The shared structs: what every layer means by a session, a surface, a run.

Frozen msgspec structs of plain data. Three states wherever two would lie: a
missing error flag, count or digest is None, and None is never equal, zero or
empty. Nothing here reads or writes anything.
"""
