"""What the code computed before it was rebuilt, to the bit: a net for the rebuilding only."""
