"""Studies: trained models looked at, by scores and in pictures."""

from demele.studies.examination import Examination, Reconstructions, Sweep, Traversals
from demele.studies.examine import examine

__all__ = ["Examination", "Reconstructions", "Sweep", "Traversals", "examine"]
