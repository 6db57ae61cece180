"""Stands in for flash-attn, which OpenRLHF imports and which has no wheel for the CPU."""
