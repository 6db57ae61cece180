"""Replay: stored roll-outs through reward rules, as the loop would have rewarded them; gold, if any, joined afterwards."""
