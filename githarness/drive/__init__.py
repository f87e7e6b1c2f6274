"""Running things: a program that answers a question, later replays and trials."""
