"""What turns a document into a page, a terminal's text, a card, a paper's table, a picture or plain tables."""
