"""Trained models examined, and many of them trained and compared; see :mod:`demele.lab`."""
