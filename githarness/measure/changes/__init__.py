"""What changed between two tool surfaces: complete, classified, graded by use."""
