"""Does an explanation hold: importance maps tested by destroying what they call important."""
