"""Published sets of images: what each file holds, and how it is read without loading it."""

from demele.data.loaders.loading import PUBLISHED, load
from demele.data.loaders.published import PublishedSet

__all__ = ["PUBLISHED", "PublishedSet", "load"]
