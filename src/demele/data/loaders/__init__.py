"""Published sets of images, read from files that a user has."""
