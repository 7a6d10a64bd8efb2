"""Methods that compare an established classifier with a candidate."""
