"""Reward rules, one file each. ``RewardRule`` is the one visible list of them, and the schema of the YAML key ``reward``."""

from typing import Annotated

from pydantic import Field

from ttrlab.rewards.base import Rule
from ttrlab.rewards.cisc import Cisc
from ttrlab.rewards.core import Core
from ttrlab.rewards.ec import EC
from ttrlab.rewards.majority import Majority
from ttrlab.rewards.oracle import Oracle

RewardRule = Annotated[Majority | Oracle | Core | EC | Cisc, Field(discriminator="rule")]

__all__ = ["EC", "Cisc", "Core", "Majority", "Oracle", "RewardRule", "Rule"]
