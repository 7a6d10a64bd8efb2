"""Answers of several annotators, their agreement, and the consensus made of them."""
