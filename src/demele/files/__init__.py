"""Readers and writers of files: tables, arrays, labels, transitions, cleanings, audits."""
