"""Rows that do not fit into memory: tables read a piece at a time, passes over them, counts and a sample of all."""
