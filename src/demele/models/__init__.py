"""VAEs, convolutional fabrics that can be pruned, and codes by encoders of any framework; see :mod:`demele.lab`."""
