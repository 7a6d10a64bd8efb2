"""Label noise that is made on purpose, so that its truth is known."""
