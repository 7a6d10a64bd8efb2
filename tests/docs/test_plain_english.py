"""What users read is plain English: the field's terms, and none of the words that made earlier texts hard to read."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "demele"

#: Pattern, and what to write instead.
INSTEAD = {
    r"bears?|bore|borne|withst(?:and|ood)s?": "holds up to",
    r"beside": "with, next to, compared with",
    r"told(?: from)?|tells? apart|tells? \w+ from": "distinguished, detected, significant; passed, given",
    r"in print": "published",
    r"right labels": "true labels",
    r"held for right|taken for right|the labels believed": "taken as true",
    r"less (?:the|its|that)(?= \w)": "minus, vs",
    r"dear(?:er|est)?": "expensive",
    r"who(?:m)?ever|whichever|wherever": "anyone who, any, in the worst case",
    r"anew|turned round|so also": "again, reversed, also",
    r"in place of": "instead of",
    r"of which|of whom": "a new sentence, or: whose, with",
    r"none of ours": "not a demele ...",
    r"alike": "the same, equally",
    r"hangs? on|rests on": "depends on",
    r"(?:is|are|be) content with": "needs only",
    r"seldom": "rarely",
    r"what chance (?:scores|gives)": "chance level",
    r"mend(?:s|ed|ing)?": "correct, repair",
    r"undecided": "inconclusive",
    r"(?:the|an?|its|is) established|could not be established": "baseline; is unknown",
    r"apparent accurac(?:y|ies)": "observed accuracy",
    r"doubt(?:s|ed|ful)?": "disagreement, uncertain",
}
FORBIDDEN = re.compile(rf"\b(?:{'|'.join(f'(?:{pattern})' for pattern in INSTEAD)})\b", re.IGNORECASE)

#: Not prose: blocks of code, code in a line, targets of links, comments, formulas, places of what is put in.
_NOT_PROSE = re.compile(
    r"^```.*?^```|``?[^`\n]+``?|\]\([^)\s]+\)|<!--.*?-->|\$[^$\n]+\$|\{+[^{}\n]*\}+", re.MULTILINE | re.DOTALL
)
#: Numbers have a comma between thousands, and no blank before the percent sign.
_NUMBERS = re.compile(r"\d %|(?<![\d.,])\d{1,3} 000\b")
#: A page that is about to be written again, and the history, which is kept as it was written.
_LATER = {"docs/architecture.md", "docs/reference/changed-numbers.md"}
PAGES = [
    page
    for page in (
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        *sorted((ROOT / "docs").rglob("*.md")),
        *sorted((ROOT / "tools" / "words").glob("*.md")),
    )
    if page.relative_to(ROOT).as_posix() not in _LATER
]

#: All rooms of the library: their strings are clean.
ROOMS = sorted({path.relative_to(SOURCE).parts[0] for path in SOURCE.rglob("*.py")})
#: Not prose: names of classes of CIFAR-100, of a stream of random numbers, and old spellings that are refused.
_NAMES = re.compile(r"baby bear beaver|^(?:alike|undecided|(?:--)?doubt)$")


def _said(text: str, pattern: re.Pattern[str]) -> list[str]:
    """Return each forbidden word in its surroundings."""
    return [text[max(0, hit.start() - 40) : hit.end() + 40].replace("\n", " ") for hit in pattern.finditer(text)]


def _prose(page: Path) -> str:
    return _NOT_PROSE.sub("`", page.read_text(encoding="utf-8"))


def _strings(module: Path) -> list[str]:
    """Return the strings and docstrings of a module."""
    tree = ast.parse(module.read_text(encoding="utf-8"))
    strings = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return [text for text in strings if not _NAMES.search(text)]


def test_pages_say_it_in_plain_english() -> None:
    for page in PAGES:
        assert _said(_prose(page), FORBIDDEN) == []
        assert _said(_prose(page), _NUMBERS) == []
        # questions, and titles of generated pages
        if page.name not in ("faq.md", "which.md", "mmlu.md", "agreement.md"):
            assert re.findall(r"^#+ (?:What|Which|Who|Where|How) .*", _prose(page), re.MULTILINE) == []


def test_strings_of_the_library_are_plain_english() -> None:
    for room in ROOMS:
        found = {
            path.relative_to(SOURCE).as_posix(): said
            for path in sorted(SOURCE.rglob("*.py"))
            if path.relative_to(SOURCE).parts[0] == room
            if (said := [word for text in _strings(path) for word in _said(text, FORBIDDEN)])
        }
        assert found == {}
