"""Pure measurement: surfaces, trajectories, counters. No disk, clock or randomness."""
