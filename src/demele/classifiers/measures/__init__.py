"""What is measured of one classifier on labels that may be wrong, and its bias, corrections and intervals."""
