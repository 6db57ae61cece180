"""Dominant sets of a roll-out graph: affinity, replicator dynamics, read-outs and the theory about them (CoRE, arXiv:2608.09324)."""
