"""Scores that stand beside the engine of the metrics: they ask other questions, or take other arrays.

Of codes alone (``unsupervised``), of several models (``udr``), of predictions made from codes (``downstream``,
``fairness``), of attributes along a traversal (``interpolatability``).
"""
