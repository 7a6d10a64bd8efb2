"""Results for eyes in a terminal: tables and sentences as plain text, bold and dim where they can be shown."""
