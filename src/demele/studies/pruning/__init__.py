"""The study of pruning: fabrics pruned in many ways, with right and wrong labels, and what can be said of the ways."""
