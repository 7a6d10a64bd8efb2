"""A trained model examined, as pages read it."""

import functools
from typing import Any

from demele.studies import Examination
from tests.studies.models import examined


@functools.cache
def sample_examination() -> Examination:
    return examined()


def picture_content() -> dict[str, Any]:
    """What :meth:`Examination.to_html` hands to the page."""
    return sample_examination().to_content()
