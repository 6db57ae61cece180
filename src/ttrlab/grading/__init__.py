"""Answers: extraction from a response, equality of two, classes of many. Usable alone: ``from ttrlab.grading import equal``."""

from ttrlab.grading.cache import use_cache
from ttrlab.grading.compare import classes, equal, explain, normalize
from ttrlab.grading.extract import extract
from ttrlab.grading.verdict import Verdict

__all__ = ["Verdict", "classes", "equal", "explain", "extract", "normalize", "use_cache"]
