"""The same metrics in other people's loops: torchmetrics, Keras, Lightning.

Each adapter is imported by who asks for it, since each needs a package of its own: ``demele.adapters.torchmetrics``
(extra ``torch``), ``demele.adapters.keras`` (extra ``keras``), ``demele.adapters.lightning`` (extra ``lightning``).
"""
