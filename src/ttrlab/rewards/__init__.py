"""Reward rules, one file each. ``RewardRule`` is the one visible list of them, and the schema of the YAML key ``reward``."""

from typing import Annotated

from pydantic import Field

from ttrlab.rewards.base import Rule
from ttrlab.rewards.cisc import Cisc
from ttrlab.rewards.core import Core
from ttrlab.rewards.deepconf import DeepConf
from ttrlab.rewards.ec import EC
from ttrlab.rewards.empo import Empo
from ttrlab.rewards.evol_rl import EvolRl
from ttrlab.rewards.intuitor import Intuitor
from ttrlab.rewards.majority import Majority
from ttrlab.rewards.oracle import Oracle
from ttrlab.rewards.rent import Rent
from ttrlab.rewards.scope import Scope
from ttrlab.rewards.scope_released import ScopeReleased
from ttrlab.rewards.scrl import Scrl
from ttrlab.rewards.truer import Truer
from ttrlab.rewards.vote_filter import VoteFilter

RewardRule = Annotated[
    Majority | Oracle | Core | EC | Cisc | DeepConf | Scope | ScopeReleased | VoteFilter | Truer | Scrl | Empo | Rent | Intuitor | EvolRl,
    Field(discriminator="rule"),
]

__all__ = [
    "EC",
    "Cisc",
    "Core",
    "DeepConf",
    "Empo",
    "EvolRl",
    "Intuitor",
    "Majority",
    "Oracle",
    "Rent",
    "RewardRule",
    "Rule",
    "Scope",
    "ScopeReleased",
    "Scrl",
    "Truer",
    "VoteFilter",
]
