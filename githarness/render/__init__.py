"""Finished values in, text out. Nothing here queries, decides, prints or reads a clock."""
