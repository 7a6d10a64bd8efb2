"""The command line: ``demele score``, ``demele metrics``."""
