"""Speed and scale: every figure of the documentation's speed page comes from here."""
