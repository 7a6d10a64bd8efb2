"""Docstrings for the site: the roles and formulas of Sphinx, which the sources use, turned into Markdown.

An extension of griffe, named in ``mkdocs.yml``. Formulas become HTML with subscripts and superscripts, so that no page
needs a script from elsewhere. A TeX command that is not known here is logged as a warning: a strict build refuses it.
"""

import functools
import html
import importlib
import inspect
import logging
import re
from pathlib import Path
from typing import Any

import griffe

LOG = logging.getLogger("mkdocs.hooks.docs_docstrings")

_ROLE = re.compile(r":(?:func|class|meth|mod|data|attr):`~?([^`]+)`")
_MATH_BLOCK = re.compile(r"^( *)\.\. math:: *(.*(?:\n\1 +\S.*)*)", re.MULTILINE)
_MATH_INLINE = re.compile(r":math:`([^`]+)`")
_LITERAL = re.compile(r"``([^`]+)``")

_SIGNS = {
    "log": "log ", "max": "max ", "min": "min ", "arctan": "arctan ", "sum": "Σ", "ne": "≠", "notin": "∉", "in": "∈",
    "mid": "|", "emptyset": "∅", "psi": "ψ", "langle": "⟨", "rangle": "⟩", "le": "≤", "ge": "≥", "cdot": "·",
    "times": "×", ",": " ", "_": "_", "rho": "ρ", "infty": "∞", "alpha": "α", "to": "→",
    "pi": "π", "lfloor": "⌊", "rfloor": "⌋", "quad": " ", "Bigl": "", "Bigr": "",
}  # fmt: skip
_WORDS = ("mathrm", "text", "operatorname")
_TOKEN = re.compile(r"\\([a-zA-Z]+|.)|([\^_])|([{}])|(\s+)|(.)", re.DOTALL)


def tex_to_html(tex: str) -> str:
    """Return a formula as HTML.

    >>> tex_to_html(r"I(v_i; z_*)^2 / H(v_{i*})")
    '<i>I</i>(<i>v</i><sub><i>i</i></sub>; <i>z</i><sub>*</sub>)<sup>2</sup> / <i>H</i>(<i>v</i><sub><i>i</i>*</sub>)'
    """
    tokens = [match.group(0) for match in _TOKEN.finditer(tex.strip())]
    text, rest = _sequence(tokens, upright=False)
    if rest:
        LOG.warning("formula with a brace too many: %s", tex)
    return re.sub(r"\s+", " ", text).strip()


def _sequence(tokens: list[str], *, upright: bool) -> tuple[str, list[str]]:
    parts: list[str] = []
    while tokens and tokens[0] != "}":
        part, tokens = _atom(tokens, upright=upright)
        parts.append(part)
    return "".join(parts), tokens


def _atom(tokens: list[str], *, upright: bool) -> tuple[str, list[str]]:
    token, rest = tokens[0], tokens[1:]
    if token == "{":
        inner, rest = _sequence(rest, upright=upright)
        return inner, rest[1:]
    if token in "^_":
        inner, rest = _atom(rest, upright=upright)
        name = "sup" if token == "^" else "sub"
        return f"<{name}>{inner}</{name}>", rest
    if token.startswith("\\"):
        name = token[1:]
        while rest and not rest[0].strip():
            rest = rest[1:]
        if name in _WORDS:
            return _atom(rest, upright=True)
        if name == "sqrt":
            inner, rest = _atom(rest, upright=upright)
            return f"√({inner})", rest
        if name not in _SIGNS:
            LOG.warning("TeX command without a sign in tools/docs_docstrings.py: %s", token)
        return _SIGNS.get(name, html.escape(token)), rest
    if token.isalpha() and not upright:
        return f"<i>{token}</i>", rest
    return html.escape(token), rest


def to_markdown(text: str, documented: frozenset[str]) -> str:
    """Return a docstring with its roles, formulas and literals as Markdown; documented names become links."""

    def reference(match: re.Match[str]) -> str:
        shown = match.group(1)
        last = shown.rpartition(".")[2]
        for room in ("", "demele.", "demele.data.", "demele.labels.", "demele.classifiers."):
            for target in (f"{room}{shown}", f"{room}{shown}.{last}"):  # a function may have the name of its module
                if target in documented:
                    return f"[`{shown}`][{target}]"
        return f"`{shown}`"

    def block(match: re.Match[str]) -> str:
        return f"{match.group(1)}<p>{tex_to_html(match.group(2))}</p>"

    text = _ROLE.sub(reference, text)
    text = _MATH_BLOCK.sub(block, text)
    text = _MATH_INLINE.sub(lambda match: tex_to_html(match.group(1)), text)
    return _LITERAL.sub(r"`\1`", text)


@functools.cache
def documented_names() -> frozenset[str]:
    """Return the names that have an entry on the pages of the Python interface."""
    pages = sorted((Path(__file__).parents[1] / "docs" / "reference" / "python").glob("*.md"))
    entries = (re.findall(r"^::: (\S+)", page.read_text(encoding="utf-8"), re.MULTILINE) for page in pages)
    return frozenset(name for names in entries for name in names)


class Docstrings(griffe.Extension):
    """Rewrite docstrings as they are loaded, and give metrics the parameters of their public functions."""

    def on_function_instance(self, *, func: Any, **kwargs: Any) -> None:
        """Show what a decorated formula of a metric is called with: codes, factors, and all options by name."""
        if not any("Metric(" in str(one.value) for one in func.decorators):
            return
        public = inspect.signature(getattr(importlib.import_module(func.module.path), func.name))
        own = {one.name: one for one in func.parameters}
        shown = []
        for one in public.parameters.values():
            kind = griffe.ParameterKind(one.kind.description)
            default = None if one.default is one.empty else repr(one.default)
            shown.append(own.get(one.name) or griffe.Parameter(one.name, kind=kind, default=default))
        func.parameters, func.returns = griffe.Parameters(*shown), "Score"

    def on_object(self, *, obj: Any, **kwargs: Any) -> None:
        """Rewrite the docstring of what the page shows, and of its members; the rest of the package stays as it is."""
        shown = {name.rpartition(".")[2] for name in documented_names()}
        if obj.docstring is not None and shown & {obj.name, obj.parent.name if obj.parent else ""}:
            obj.docstring.value = to_markdown(obj.docstring.value, documented_names())
