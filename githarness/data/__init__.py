"""Files that are shipped and read as they are: the declared knobs, the demo's recordings."""
