"""What every page is made of: templates, data and scripts that cannot break out, a policy that allows nothing else."""

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files

__all__ = ["assembled", "embedded", "fill", "packed", "policy", "section", "template"]


def template(name: str) -> str:
    """Read a file of the templates."""
    return (files("demele.report") / "templates" / name).read_text(encoding="utf-8")


def fill(text: str, parts: Mapping[str, str]) -> str:
    """Put parts in the places ``{{name}}``, in one pass: what is put in is never searched for places.

    Examples
    --------
    >>> fill("<p>{{a}}</p>", {"a": "{{b}}"})
    '<p>{{b}}</p>'
    """
    return re.sub(r"\{\{(\w+)\}\}", lambda place: parts[place.group(1)], text)


def embedded(data: object) -> str:
    r"""Write JSON that cannot end the script element that holds it.

    Examples
    --------
    >>> embedded({"name": "</script>"})
    '{"name":"\\u003c/script\\u003e"}'
    """
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def packed(data: object) -> str:
    """Write JSON compressed, as base64 of what zlib makes of it: a fifth of its size, for a script to unpack."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def policy(scripts: Iterable[str]) -> str:
    """No request to anywhere, no script but these."""
    digests = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    own = "style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'"
    return f"default-src 'none'; script-src {allowed}; {own}"


def assembled(
    name: str,
    *,
    title: str,
    sections: Sequence[tuple[str, str, str]],
    styles: Sequence[str],
    scripts: Mapping[str, str],
    parts: Mapping[str, str],
) -> str:
    """Put a page together.

    Parameters
    ----------
    name : str
        The template of the page.
    title : str
        Its heading; escaped here, as nothing else is.
    sections : sequence of (key, name, body)
        Those without a body are left out.
    styles : sequence of str
        The templates of its styles.
    scripts : mapping of str to str
        All that it may run, by the place of each.
    parts : mapping of str to str
        What stands in its other places.
    """
    shown = [item for item in sections if item[2]]
    common = {
        "title": escape(title),
        "policy": policy(scripts.values()),
        "css": "".join(template(style) for style in styles),
    }
    return fill(
        template(name),
        {
            "head": fill(template("head.html"), {**common, **scripts}),
            "title": escape(title),
            "navigation": "\n".join(f'<li><a href="#{key}">{heading}</a></li>' for key, heading, _ in shown),
            "sections": "\n".join(section(*item) for item in shown),
            **parts,
            **scripts,
        },
    )


def section(key: str, name: str, body: str) -> str:
    """Write a section of a page under its heading."""
    return f'<section id="{key}" aria-labelledby="{key}-title">\n<h2 id="{key}-title">{name}</h2>\n{body}\n</section>'
