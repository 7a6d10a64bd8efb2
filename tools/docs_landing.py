"""Pictures of pages, drawn at each build: ranks and a verdict in words of the bundled data, and a pruned fabric."""

from html import escape

import numpy as np

import demele
from demele import classifiers
from demele.core.verdict import FactorVerdict
from demele.labels import disagreement, draw_audit

RANKS, VERDICT, FABRIC = "assets/ranks.svg", "assets/verdict.svg", "assets/pruned-fabric.svg"
#: Rows that the expert of the demonstration labels.
AUDITED = 500
_BLUE, _PALE, _SOFT, _INK, _TRACK = "#0072b2", "#9cc8e3", "#5b6672", "#1b1f24", "#eceff2"
_WIDTH, _ROW = 720, 26
_STATUS = {
    "one code": "#007f5f",
    "mixed code": "#7a5f00",
    "several codes": "#b84a06",
    "weak": "#a3271c",
    "no code": "#a3271c",
    "inconclusive": "#6b7480",
}


def ranks_picture() -> str:
    """Return the ranks that each of ten language models can have, with and without an audit, as SVG."""
    questions = demele.data.load_example("mmlu_redux")
    truth = np.asarray(questions.true_labels)
    plan = draw_audit(questions.n, AUDITED, disagreement=disagreement(questions.predictions), seed=0)
    ranking = classifiers.rank(
        questions.predictions, questions.labels, audit=plan.answered(truth[plan.rows]), classes=questions.classes
    )
    left, top = 190, 62
    models = ranking.to_frame().to_dict("records")
    step = (_WIDTH - left - 20) / len(models)
    parts = [_text(16, 24, "Ranks that remain possible, at 95% for all ten together", size=15, weight=600)]
    parts += [_text(left + (k + 0.5) * step, top - 10, str(k + 1), "middle", _SOFT) for k in range(len(models))]
    by_accuracy = sorted(models, key=lambda model: -model["value"])
    for row, model in enumerate(models):
        y = top + row * _ROW
        first, last, observed = model["best_rank"], model["worst_rank"], by_accuracy.index(model) + 1
        parts += [
            _text(16, y + 16, model["model"], colour=_INK),
            _box(left, y + 4, step * len(models), 16, _TRACK),
            _box(left + (first - 1) * step, y + 4, (last - first + 1) * step, 16, _BLUE),
            f'<circle cx="{left + (observed - 0.5) * step:.1f}" cy="{y + 12}" r="5" fill="white"/>',
        ]
    end = top + len(models) * _ROW
    parts.append(_text(16, end + 18, "White: the rank by accuracy on the published labels.", colour=_SOFT))
    words = "Ranks that ten language models can have, when some published answers of MMLU-Redux are wrong"
    return _drawing(parts, end + 32, words)


def verdict_picture() -> str:
    """Return what the codes of the demonstration hold of each factor, as bars and words, in SVG."""
    sample = demele.data.load_example()
    verdict = demele.evaluate(sample.codes, sample.factors, ["mig"]).verdict
    if verdict is None:
        raise ValueError("no verdict")
    headline = str(verdict).splitlines()[0].strip()
    first, _, rest = headline.partition("; ")
    parts = [_text(16, 24, f"{first};", size=15, weight=600), _text(16, 44, rest, size=15, weight=600)]
    parts.append(_text(16, 66, "Best code (dark) and next (pale), as shares of the factor; line: chance", colour=_SOFT))
    top, left, longest = 80, 100, 130
    scale = longest / max(factor.share for factor in verdict.factors)
    for row, factor in enumerate(verdict.factors):
        y = top + row * 2 * 17
        parts.append(_text(16, y + 18, factor.factor, weight=600))
        parts += [
            _box(left, y + 4, factor.share * scale, 9, _BLUE),
            _box(left, y + 15, factor.second * scale, 9, _PALE),
            _box(left + factor.chance * scale, y + 2, 1, 24, _INK),
        ]
        parts += _words(factor, left + longest + 16, y + 12)
    return _drawing(parts, top + len(verdict.factors) * 2 * 17 + 12, headline)


def _words(factor: FactorVerdict, x: float, y: float) -> list[str]:
    """The verdict of one factor, without the numbers that its bars show."""
    first, _, numbers = factor.words.partition(":")
    status = _STATUS.get(factor.status, _INK)
    percent = f"{100 * factor.share:.0f}%, the next {100 * factor.second:.0f}%"
    return [_text(x, y, first, colour=status, weight=600), _text(x, y + 14, percent if numbers else "", colour=_SOFT)]


def fabric_picture() -> str:
    """Return a fabric of 8 layers and 4 scales of which half of the links (38) went at random, as SVG."""
    from demele.models.fabric.lattice import Lattice, plan_links
    from demele.models.results import lattice_graph
    from demele.report.document import Document
    from demele.report.renderers.picture import picture

    whole = Lattice.whole(8, 4)
    scores = np.random.default_rng(1).random(len(whole.links))
    left, _ = plan_links(whole, scores, remove=38, least=whole.longest, overshoot=0)
    graph = lattice_graph("A fabric of which half of the links went", 8, 4, {link.name: 0.3 for link in left.links})
    return picture(Document(kind="Fabric", headline="", figure=graph), "svg").decode()


def _drawing(parts: list[str], height: float, words: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height:g}" role="img" '
        f'aria-label="{escape(words)}" font-family="system-ui, sans-serif" font-size="12">'
        f'<rect width="{_WIDTH}" height="{height:g}" fill="white"/>{"".join(parts)}</svg>\n'
    )


def _box(x: float, y: float, width: float, height: float, colour: str) -> str:
    return f'<rect x="{x:.1f}" y="{y:g}" width="{width:.1f}" height="{height}" rx="2" fill="{colour}"/>'


def _text(
    x: float, y: float, content: str, anchor: str = "start", colour: str = _INK, *, size: int = 12, weight: int = 400
) -> str:
    styled = f'text-anchor="{anchor}" fill="{colour}" font-size="{size}" font-weight="{weight}"'
    return f'<text x="{x:.1f}" y="{y:g}" {styled}>{escape(content)}</text>'


#: What draws the pictures, by the path of each.
PICTURES = {RANKS: ranks_picture, VERDICT: verdict_picture, FABRIC: fabric_picture}
