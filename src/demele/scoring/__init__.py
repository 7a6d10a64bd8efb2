"""Scores of representations: the public calls, above every source of rows."""
