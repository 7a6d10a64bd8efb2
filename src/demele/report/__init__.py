"""Reports: one HTML file that holds everything about one or several evaluations."""
