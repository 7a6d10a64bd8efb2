"""What is known of wrong labels: transition matrices, audits, and how many labels can be wrong."""
