"""Methods that compare a baseline classifier with a candidate."""
