"""The functions that OpenRLHF imports from flash-attn, for unpacked batches on the CPU."""

import torch
from einops import rearrange

__all__ = ["index_first_axis", "pad_input", "rearrange", "unpad_input"]


def index_first_axis(values, indices):
    """Rows of ``values``."""
    return values[indices]


def unpad_input(hidden, mask, unused=None):
    """(tokens that are real, their flat indices, cumulative lengths, longest, lengths) of a padded (B, T, ...) batch."""
    lengths = mask.sum(dim=-1, dtype=torch.int32)
    indices = torch.nonzero(mask.flatten()).flatten()
    ends = torch.cat([lengths.new_zeros(1), lengths.cumsum(0, dtype=torch.int32)])
    return hidden.flatten(0, 1)[indices], indices, ends, int(lengths.max()), lengths


def pad_input(hidden, indices, batch, length):
    """The inverse of ``unpad_input``: zeros where nothing was."""
    padded = hidden.new_zeros((batch * length, *hidden.shape[1:]))
    padded[indices] = hidden
    return padded.unflatten(0, (batch, length))
