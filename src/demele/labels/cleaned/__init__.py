"""Which labels are held for wrong, and what cleaning them costs each class."""
