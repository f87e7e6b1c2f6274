"""Where recordings and surfaces come from: files, folders, databases.

Capture reads what clients left on disk and hands over bytes and facts. It never
touches the store and never alters a client's files.
"""
