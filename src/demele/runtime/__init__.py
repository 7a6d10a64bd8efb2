"""How work is shown while it runs."""
