"""ttrlab: reproduce and compare test-time reinforcement learning methods."""

__version__ = "0.1.0"
