"""Scores corrected for noisy annotations of the factors: what is known of the noise, and a method for each kind."""
