"""Comparison methods measured themselves: what each decides on labels whose noise is known."""
