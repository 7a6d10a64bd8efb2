"""The pages about labels: whole, safe, true to their dictionaries, readable without a script."""

import base64
import hashlib
import itertools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from demele.core.errors import InputError
from demele.core.written import floor_percent
from demele.evaluation.comparison.compare import compare, compare_without_labels
from demele.evaluation.comparison.rank import rank
from demele.evaluation.measures.assess import assess
from demele.evaluation.results import Decision
from demele.noise.audit_drawing import draw_audit
from demele.report.assessment import write_assessment
from demele.report.decision import write_decision
from demele.report.ranking import write_ranking
from demele.report.worst_case import Disagreements
from tests.report.sample_labels import HOSTILE, assessment, decision, inconclusive, largest_bearable, ranking
from tests.report.test_html import Page

_Writer = Callable[..., Path]
_PAGES: dict[str, tuple[_Writer, Callable[[], dict[str, Any]]]] = {
    "decision": (write_decision, lambda: decision(names=("resnet", HOSTILE))),
    "inconclusive": (write_decision, inconclusive),
    "ranking": (write_ranking, lambda: ranking(reference=True)),
    "many models": (write_ranking, lambda: ranking(45)),
    "assessment": (write_assessment, assessment),
    "many classes": (write_assessment, lambda: assessment(45)),
    "no noise": (write_assessment, lambda: assessment(noise=False)),
}


def _text(writer: _Writer, data: dict[str, Any], folder: Path, **options: Any) -> str:
    return writer(data, folder / "page.html", **options).read_text(encoding="utf-8")


def _words(writer: _Writer, data: dict[str, Any], folder: Path, **options: Any) -> str:
    return Page(_text(writer, data, folder, **options)).words


@pytest.fixture(scope="module", params=list(_PAGES))
def one(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, Any]]:
    writer, data = _PAGES[request.param]
    return _text(writer, data(), tmp_path_factory.mktemp("labels")), data()


# Every page -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["decision", "ranking", "assessment"])
def test_returns_the_path_and_writes_the_same_bytes_again(name: str, tmp_path: Path) -> None:
    writer, data = _PAGES[name]
    first, second = writer(data(), tmp_path / "a.html"), writer(data(), tmp_path / "b.html")
    assert first == tmp_path / "a.html"
    assert first.read_bytes() == second.read_bytes()


def test_data_of_the_page_are_the_dictionary(one: tuple[str, dict[str, Any]]) -> None:
    text, data = one
    assert Page(text).script("data") == data


def test_no_address_leads_out_of_the_file(one: tuple[str, dict[str, Any]]) -> None:
    text, _ = one
    for _, attributes in Page(text).elements:
        for name in ("src", "href", "action", "data", "poster", "srcset", "xlink:href"):
            address = attributes.get(name)
            assert address is None or address.startswith(("#", "data:,")), (name, address)
    assert not re.search(r"https?://|url\(", text)


def test_policy_allows_these_scripts_and_nothing_else(one: tuple[str, dict[str, Any]]) -> None:
    page = Page(one[0])
    policy = next(m["content"] for m in page.all("meta") if m.get("http-equiv") == "Content-Security-Policy") or ""
    runnable = [
        script
        for script, attributes in zip(page.scripts, page.all("script"), strict=True)
        if attributes.get("type") != "application/json"
    ]
    digests = {base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in runnable}
    assert policy.startswith("default-src 'none';")
    assert set(re.findall(r"'sha256-([^']+)'", policy)) == digests
    assert len(digests) == 2
    assert not [name for _, attributes in page.elements for name in attributes if name.startswith("on")]


def test_hostile_names_are_text(one: tuple[str, dict[str, Any]]) -> None:
    text, data = one
    page = Page(text)
    assert len(page.all("script")) == text.count("</script>") == 3
    assert "<script>document.title" not in text
    assert "<b>\"'>" not in text
    if data["kind"] != "decision" or HOSTILE in data["names"]:
        assert HOSTILE in page.words


def test_identities_are_unique_and_links_lead_somewhere(one: tuple[str, dict[str, Any]]) -> None:
    page = Page(one[0])
    identities = [attributes["id"] for _, attributes in page.elements if attributes.get("id")]
    assert len(identities) == len(set(identities))
    inferences = {(attributes["href"] or "")[1:] for attributes in page.all("a")}
    assert inferences <= set(identities), inferences - set(identities)


def test_can_be_read_by_a_screen_reader(one: tuple[str, dict[str, Any]]) -> None:
    page = Page(one[0])
    assert page.all("html") == [{"lang": "en"}]
    assert len(page.all("h1")) == len(page.all("main")) == 1
    assert len(page.all("caption")) == len(page.all("table"))
    for attributes in page.all("svg"):
        assert attributes.get("aria-hidden") == "true"  # a table holds the numbers
    for tag, attributes in page.elements:
        if tag == "section":
            assert attributes.get("aria-labelledby")
        if tag == "th":
            assert attributes.get("scope") in {"row", "col"}


@pytest.mark.parametrize("name", ["decision", "ranking", "assessment"])
def test_signs_that_utf8_cannot_hold_do_not_part_page_and_data(name: str, tmp_path: Path) -> None:
    writer, make = _PAGES[name]
    data = make()
    lone = "lone \udc80 surrogate"
    if name == "decision":
        data["names"] = [lone, "other"]
    elif name == "ranking":
        for row in [*data["models"], *data["pairs"], *data["reference"]]:
            row.update({key: lone for key in ("name", "baseline", "candidate") if row.get(key) == "model 1"})
    else:
        for item in data["estimates"]:
            item["of"] = lone if item["of"] == "class 0" else item["of"]
    page = Page(_text(writer, data, tmp_path))
    assert "lone ? surrogate" in page.words
    assert "lone ? surrogate" in str(page.script("data"))
    assert "\udc80" not in str(page.script("data"))


@pytest.mark.parametrize(("writer", "data"), [(write_decision, ranking(4)), (write_ranking, {}), (write_assessment, 3)])
def test_refuses_another_dictionary(writer: _Writer, data: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected the dictionary of one"):
        writer(data, tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


def test_title_is_escaped_and_never_searched_for_places(tmp_path: Path) -> None:
    text = _text(write_decision, decision(), tmp_path, title="<1> & {{css}}")
    assert "<h1>&lt;1&gt; &amp; {{css}}</h1>" in text
    assert "<title>&lt;1&gt; &amp; {{css}}</title>" in text


def test_undefined_numbers_do_not_stop_a_page(tmp_path: Path) -> None:
    data = decision("inconclusive", interval=None)
    data.update(difference=None, p_value=None, details={}, assumptions=[], notes=[], interval=None, signature=None)
    for side in ("baseline", "candidate"):
        data[side].update(value=None, interval=None, corrected=None, bias=None)
    assert "Keep resnet-18: the labels cannot show that vit-small is better." in _words(write_decision, data, tmp_path)
    ranks = ranking(3)
    for model in ranks["models"]:
        model.update(value=None, interval=None, corrected=None, bias=None)
    for row in ranks["pairs"]:
        row.update(difference=None, low=None, high=None, p_value=None, breakdown_rate=None)
    assert "Of 3 differences" in _words(write_ranking, ranks, tmp_path)
    measures = assessment(2)
    for item in measures["estimates"]:
        item.update(value=None, interval=None, corrected=None, bias=None)
    assert "It predicts the given label for – of" in _words(write_assessment, measures, tmp_path)


def _labelled(seed: int = 0) -> tuple[Any, dict[str, Any], Any]:
    """True labels, models and given labels of 900 instances: 3% of the labels are drawn anew."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 4, 900)
    names = np.array(["cat", "dog", HOSTILE, "ship"])
    shares = {"large": 0.97, "small": 0.8, HOSTILE: 0.79}
    models = {name: names[np.where(rng.random(900) < p, truth, rng.integers(0, 4, 900))] for name, p in shares.items()}
    return names[truth], models, names[np.where(rng.random(900) < 0.97, truth, rng.integers(0, 4, 900))]


def test_results_of_the_library_write_their_pages(tmp_path: Path) -> None:
    truth, models, labels = _labelled()
    plan = draw_audit(900, 300, seed=1)
    audit = plan.answered(truth[plan.rows])
    pair = (models["small"], models["large"], labels)
    results: list[Any] = [
        compare(*pair, names=("small", HOSTILE)),
        compare(*pair, noise=0.02),
        compare(*pair, noise=0.02, inference="test_set", measure="error"),
        compare(*pair, noise=0.02, measure="recall", of="cat"),
        compare(*pair, audit=audit),
        compare(*pair, method="hard-rows", difficulty=np.arange(900.0)),
        compare(*pair, method="true-labels", true_labels=truth),
        compare_without_labels(models["small"], models["large"], models[HOSTILE]),
        rank(models, labels, noise=0.02, true_labels=truth, title="three <models>"),
        rank(models, labels, measure="f1", of=HOSTILE),
        assess(models["large"], labels),
        assess(models["large"], labels, noise=0.02),
        assess(models["large"], labels, audit=audit),
        assess(models["large"], labels, true_labels=truth),
    ]
    for result in results:
        page = Page(result.to_html(tmp_path / "page.html").read_text(encoding="utf-8"))
        assert page.script("data") == result.to_dict()
        assert len(page.all("script")) == 3
        assert "nan" not in page.words.lower().split()
        for sentence in result.assumptions:
            assert sentence[1:].rstrip(".") in page.words
        if isinstance(result, Decision) and result.breakdown is not None and result.breakdown.labels > 0:
            assert f"({result.breakdown.labels:,} of 900)" in page.words or result.method == "agreement"


# Decisions ------------------------------------------------------------------------------------------------------------


def _headline(data: dict[str, Any], folder: Path) -> str:
    found = re.search(r'<p class="headline[^>]*>(.*?)</p>', _text(write_decision, data, folder), flags=re.DOTALL)
    assert found
    return re.sub(r"<[^>]+>", "", found[1])


def test_each_verdict_has_its_sentence(tmp_path: Path) -> None:
    chosen = _headline(decision(), tmp_path)
    assert chosen == "Replace resnet-18 by vit-small: its accuracy is higher by 3.1 points [1.9, 4.4]."
    kept = decision("baseline", counts=(684, 312, 101), interval=(-0.044, -0.019))
    assert _headline(kept, tmp_path) == "Keep resnet-18: its accuracy is higher by 3.1 points [1.9, 4.4]."
    assert _headline(inconclusive(), tmp_path) == "Keep resnet-18: the labels cannot show that vit-small is better."
    lower = {
        **inconclusive(),
        "difference": -0.003,
        "interval": {**inconclusive()["interval"], "low": -0.019, "high": 0.012},
    }
    assert _headline(lower, tmp_path) == (
        "Keep resnet-18: the labels cannot show that vit-small is better; by the estimate it is worse."
    )
    words = _words(write_decision, inconclusive(), tmp_path)
    assert "estimated at +0.3 points for vit-small, but anything in [−1.2, +1.9] is possible" in words


def test_less_error_is_better(tmp_path: Path) -> None:
    data = decision(measure="error")
    assert data["difference"] == pytest.approx(-0.031)
    assert _headline(data, tmp_path) == "Replace resnet-18 by vit-small: its error is lower by 3.1 points [1.9, 4.4]."
    expert = _words(write_decision, data, tmp_path).split("For experts")[-1]
    assert "−3.10 points, [−4.40, −1.90] (vit-small minus resnet-18)" in expert


def test_other_measures_name_their_class(tmp_path: Path) -> None:
    data = decision(measure="precision", of="<cat>", method="worst-case-overlap")
    data["breakdown"] = None
    for name in ("baseline", "candidate", "neither"):
        del data["details"][f"label_says_{name}"]
    headline = _headline(data, tmp_path)
    assert headline.startswith("Replace resnet-18 by vit-small: its precision for class &lt;cat&gt; is higher by 3.1")
    page = Page(_text(write_decision, data, tmp_path))
    assert not {"disagreements", "breakdown"} & {item["id"] for item in page.all("section")}
    assert "This stands even if" not in page.words


def test_says_what_the_verdict_bears(tmp_path: Path) -> None:
    data = decision()
    bears = largest_bearable(312, 684, 101)
    assert data["breakdown"]["labels"] == bears == 154
    assert "This stands even if 1.28% of the labels (154 of 12,000) are wrong" in _words(write_decision, data, tmp_path)
    data["breakdown"] = {"labels": 0, "n": 12_000, "rate": 0.0}
    assert "A single wrong label, in the worst place, could overturn this." in _words(write_decision, data, tmp_path)
    data["breakdown"] = {"labels": -1, "n": 12_000, "rate": None}
    assert "The given labels alone would not show this" in _words(write_decision, data, tmp_path)


def test_an_audited_verdict_says_which_labels_bear_what(tmp_path: Path) -> None:
    words = _words(write_decision, decision(method="audit"), tmp_path)
    assert (
        "The verdict rests on the audit. The given labels without it, none of them replaced, would show the same as "
        "long as at most 1.28% of the labels (154 of 12,000) are wrong" in words
    )
    assert "This stands even if" not in words


def test_the_slider_of_wrong_labels_reaches_what_the_audit_found(tmp_path: Path) -> None:
    data = decision(method="audit")
    data["details"] = {**data["details"], "wrong_labels_estimated": 1499.6}
    page = Page(_text(write_decision, data, tmp_path))
    slider = next(item for item in page.all("input") if item.get("id") == "wrong")
    assert int(str(slider["max"])) >= 2 * 1500
    assert "so many are wrong, as the audit estimates" in page.words
    data["details"] = {**data["details"], "wrong_labels_estimated": 0.0}
    assert "as the audit estimates" not in _words(write_decision, data, tmp_path)


def test_a_ranking_says_by_what_it_is_sorted(tmp_path: Path) -> None:
    data = ranking()
    assert "Mean lead" not in _words(write_ranking, data, tmp_path)
    for place, model in enumerate(data["models"]):
        model["lead"] = 0.0321 - 0.01 * place
    words = _words(write_ranking, data, tmp_path)
    assert "Mean lead" in words
    assert "+3.21" in words
    assert "sorted by their mean lead" in words


def test_agreement_with_a_reference_is_not_called_accuracy(tmp_path: Path) -> None:
    words = _words(write_decision, decision(method="agreement"), tmp_path)
    assert "its agreement with the reference classifier is higher" in words


def test_shows_the_numbers_of_the_decision(tmp_path: Path) -> None:
    data = decision()
    words = _words(write_decision, data, tmp_path)
    for number in (
        "label says resnet-18: 312",
        "label says vit-small: 684",
        "label says neither: 101",
        "1,097 instances",
    ):
        assert number in words
    for side in ("baseline", "candidate"):
        for key in ("interval", "corrected"):
            ends = data[side][key]
            assert f"[{100 * ends['low']:.1f}%, {100 * ends['high']:.1f}%]" in words
    assert "0.00042, one-sided" in words
    assert "At most 1% of the labels are wrong." in words
    assert "better on new instances (population)" in words
    assert " ".join(data["signature"].split()) in words
    assert re.search(r"wrong labels\s*120\b", words)
    assert "3 classes have fewer than 10 labels." in words


def test_says_what_an_audit_would_buy(tmp_path: Path) -> None:
    words = _words(write_decision, inconclusive(), tmp_path)
    assert "100 expert labels would settle it if all of them confirm the given ones; 500 if the labels are" in words
    data = inconclusive()
    for row in data["details"]["prospect"]:
        row.update(certified_if_clean=False, certified_if_rate=None)
    told = "Even if all of them confirm the given ones, 1,000 expert labels would not settle it."
    assert told in _words(write_decision, data, tmp_path)
    del data["details"]["prospect"]
    assert "What an audit would buy" not in _words(write_decision, data, tmp_path)


def test_two_that_never_differ(tmp_path: Path) -> None:
    data = decision("inconclusive", counts=(0, 0, 0), interval=(0.0, 0.0), prospect=False)
    assert "They never differ" in _words(write_decision, data, tmp_path)


def _brute_force(pair: Disagreements, wrong: int) -> tuple[int, int]:
    """Smallest and largest true difference over every choice of wrong labels and of their right ones."""
    # What the difference of right answers becomes, by what the label says: it may become any other value.
    signs = [-1] * pair.lost + [1] * pair.won + [0] * pair.neither
    found = set()
    for turned in itertools.product((-1, 0, 1), repeat=len(signs)):
        if sum(now != before for now, before in zip(turned, signs, strict=True)) <= wrong:
            found.add(sum(turned))
    return min(found), max(found)


@given(st.integers(0, 3), st.integers(0, 3), st.integers(0, 2), st.integers(0, 9))
def test_limits_are_those_of_all_patterns_of_wrong_labels(lost: int, won: int, neither: int, wrong: int) -> None:
    pair = Disagreements(lost, won, neither, 20)
    assert (pair.least(wrong), pair.most(wrong)) == _brute_force(pair, wrong)


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 30), st.integers(0, 200))
def test_limits_are_straight_between_their_bends(lost: int, won: int, neither: int, wrong: int) -> None:
    pair = Disagreements(lost, won, neither, 200)
    bends = pair.bends(200)
    left = max(place for place in bends if place <= wrong)
    right = min(place for place in bends if place >= wrong)
    for limit in (pair.least, pair.most):
        straight = (
            limit(left)
            if left == right
            else limit(left) + (limit(right) - limit(left)) * (wrong - left) / (right - left)
        )
        assert limit(wrong) == pytest.approx(straight)


@given(st.integers(0, 10_000), st.integers(1, 10_000))
def test_what_is_borne_is_never_overstated(labels: int, n: int) -> None:
    share = min(labels, n) / n
    shown = float(floor_percent(share).rstrip("%")) / 100
    assert shown <= share * (1 + 1e-9)
    assert share - shown <= (0.001 if share >= 0.1 else 0.0001) * (1 + 1e-6)


# Rankings -------------------------------------------------------------------------------------------------------------


def _decided(data: dict[str, Any]) -> int:
    return len({frozenset((r["baseline"], r["candidate"])) for r in data["pairs"] if r["verdict"] != "inconclusive"})


def test_counts_what_is_shown_and_who_may_be_first(tmp_path: Path) -> None:
    data = ranking(10, hostile=False)
    words = _words(write_ranking, data, tmp_path)
    assert [model["name"] for model in data["models"] if model["best_rank"] == 1] == ["model 1", "model 2"]
    assert f"Of 45 differences, {_decided(data)} are shown; the best is one of model 1 and model 2." in words
    assert "All verdicts and rank ranges hold together with a probability of at least 95%." in words
    for model in data["models"]:
        for key in ("interval", "corrected"):
            ends = model[key]
            assert f"[{100 * ends['low']:.2f}%, {100 * ends['high']:.2f}%]" in words


def test_one_winner_and_no_winner(tmp_path: Path) -> None:
    data = ranking(4, hostile=False)
    for model, (best, worst) in zip(data["models"], [(1, 1), (2, 2), (3, 4), (3, 4)], strict=True):
        model.update(best_rank=best, worst_rank=worst)
    assert "; model 1 is shown to be the best." in _words(write_ranking, data, tmp_path)
    for model in data["models"]:
        model.update(best_rank=1, worst_rank=4)
    assert "; any of them may be the best." in _words(write_ranking, data, tmp_path)
    data["correction"] = "none"
    assert "among so many, some may be wrong" in _words(write_ranking, data, tmp_path)


def test_grid_shows_each_verdict_from_both_sides(tmp_path: Path) -> None:
    data = ranking(10)
    text = _text(write_ranking, data, tmp_path)
    grid = text.split('id="grid"')[1].split("</table>")[0]
    shown = _decided(data)
    assert grid.count("▲") == grid.count("▽") == shown
    assert grid.count("·") == 90 - 2 * shown
    assert grid.count('class="self"') == 10


def test_verdicts_of_one_order_only_are_enough(tmp_path: Path) -> None:
    data = ranking(6)
    shown = _decided(data)
    order = [model["name"] for model in data["models"]]
    data["pairs"] = [row for row in data["pairs"] if order.index(row["baseline"]) > order.index(row["candidate"])]
    grid = _text(write_ranking, data, tmp_path).split('id="grid"')[1].split("</table>")[0]
    assert grid.count("▲") == grid.count("▽") == shown


def test_errors_against_the_true_labels_are_counted_by_hand(tmp_path: Path) -> None:
    data = ranking(3, hostile=False)
    ours = {("model 1", "model 2"): "candidate", ("model 2", "model 1"): "baseline"}
    true = {
        ("model 1", "model 2"): "baseline",
        ("model 3", "model 1"): "candidate",
        ("model 3", "model 2"): "candidate",
    }
    data["reference"] = [dict(row) for row in data["pairs"]]
    for rows, said in ((data["pairs"], ours), (data["reference"], true)):
        for row in rows:
            row["choice"] = said.get((row["baseline"], row["candidate"]), "baseline")
    # Six ordered pairs; the true labels choose the candidate in two, ours in none of these but in another one.
    words = _words(write_ranking, data, tmp_path)
    for name, part in (("Agreement", "3 of 6"), ("Type I", "1 of 4"), ("Type II", "2 of 2")):
        assert re.search(rf"{name}\s*{part}", words), (name, words)
    assert "3 choices that differ" in words


def test_without_true_labels_there_is_no_such_section(tmp_path: Path) -> None:
    assert "Beside the true labels" not in _words(write_ranking, ranking(4), tmp_path)


def test_many_pairs_are_left_to_the_data(tmp_path: Path) -> None:
    words = _words(write_ranking, ranking(45), tmp_path)
    assert "The 990 differences one by one: in the data of this page" in words
    assert "All 45 differences as a table" in _words(write_ranking, ranking(10), tmp_path)


# Assessments ----------------------------------------------------------------------------------------------------------


def test_sentence_with_and_without_knowledge_of_the_noise(tmp_path: Path) -> None:
    data = assessment()
    accuracy = data["estimates"][0]
    right = accuracy["corrected"]
    words = _words(write_assessment, data, tmp_path)
    assert f"It predicts the given label for {100 * accuracy['value']:.1f}% of {data['n']:,} instances" in words
    assert f"on right labels lies in [{100 * right['low']:.1f}%, {100 * right['high']:.1f}%]" in words
    assert "look up to 2.0 points better or up to 2.0 points worse than it is" in words
    bare = _words(write_assessment, assessment(noise=False), tmp_path)
    assert "Nothing is known here of how many labels are wrong" in bare
    assert "on right labels lies" not in bare


@pytest.mark.parametrize(
    ("bias", "sentence"),
    [
        ([0.012, 0.012], "Label errors make it look 1.2 points better than it is."),
        ([-0.012, -0.012], "Label errors make it look 1.2 points worse than it is."),
        ([0.0, 0.0], "Label errors neither flatter nor harm it."),
        ([0.0, 0.03], "Label errors may make it look up to 3.0 points better than it is."),
    ],
)
def test_bias_in_words(bias: list[float], sentence: str, tmp_path: Path) -> None:
    data = assessment()
    data["estimates"][0]["bias"] = bias
    assert sentence in _words(write_assessment, data, tmp_path)


def test_classes_come_weakest_first_with_their_numbers(tmp_path: Path) -> None:
    data = assessment()
    text = _text(write_assessment, data, tmp_path)
    body = text.split('id="classes"')[1].split("<tbody>")[1].split("</tbody>")[0]
    order = re.findall(r'<th scope="row"><bdi>(class \d)</bdi>', body)
    f1 = {item["of"]: item["value"] for item in data["estimates"] if item["measure"] == "f1" and item["trials"]}
    assert order == [name for name in sorted(f1, key=lambda name: f1[name]) if name != HOSTILE]
    for item in data["estimates"]:
        if item["trials"] and item["of"] is not None and item["value"] is not None:
            assert f"{100 * item['value']:.1f}%" in body
    assert "–" in body  # a class that is never predicted has no precision


def test_a_class_may_be_called_as_an_average_is(tmp_path: Path) -> None:
    data = assessment(4)
    data["classes"][0] = "macro"
    for item in data["estimates"]:
        if item["of"] == "class 0":
            item["of"] = "macro"
        if item["of"] == "weighted":
            item["trials"] = 1000.0  # the weighted recall is a proportion
    text = _text(write_assessment, data, tmp_path)
    assert '<th scope="row"><bdi>macro</bdi></th>' in text.split('id="classes"')[1]
    assert '<th scope="row"><bdi>weighted</bdi></th>' not in text
    for name in ("Precision, macro average", "Recall, weighted average"):
        assert name in Page(text).words


def test_confusion_holds_the_counts_and_the_worst_mistake(tmp_path: Path) -> None:
    data = assessment()
    text = _text(write_assessment, data, tmp_path)
    grid = text.split('id="grid"')[1].split("</table>")[0]
    cells = [int(value or 0) for value in re.findall(r"<td[^>]*>(\d*)</td>", grid.split("<tbody>")[1])]
    assert cells == [value for row in data["confusion"]["counts"] for value in row]
    mistakes = text.split("Most frequent disagreements</h3>")[1].split("<tbody>")[1]
    first = mistakes.split("</tr>")[0]
    assert "class 2" in first
    assert "class 3" in first
    assert ">120<" in first
    data["confusion"]["rows"] = "true"
    assert "Rows: the class that an instance is truly." in _words(write_assessment, data, tmp_path)


def test_a_thousand_classes_fit_a_page(tmp_path: Path) -> None:
    text = _text(write_assessment, assessment(1000), tmp_path)
    assert len(text) < 3_000_000
    assert "There are 1,000 classes: too many for a matrix on a page." in text
    assert "Show all 1,000 classes" in text
    body = text.split('id="classes"')[1].split("<tbody>")[1].split("</tbody>")[0]
    assert body.count("<tr>") == 1000


def test_the_difference_is_drawn_against_zero() -> None:
    from demele.report.estimates import difference_chart

    drawn = difference_chart(0.035, (0.02, 0.05), ("old", "new"))
    at = {kind: float(re.search(rf'class="{kind}" style="left:([\d.]+)%', drawn)[1]) for kind in ("zero", "at")}  # type: ignore[index]
    low, width = map(float, re.search(r'class="corrected" style="left:([\d.]+)%;width:([\d.]+)%', drawn).groups())  # type: ignore[union-attr]
    assert 0 < at["zero"] < low < at["at"] < low + width <= 100
    assert (at["at"] - at["zero"]) / (low - at["zero"]) == pytest.approx(0.035 / 0.02, abs=0.01)
    assert drawn.index("old") < drawn.index("new")
    assert not difference_chart(None, (0.0, 1.0), ("a", "b"))
    assert not difference_chart(0.1, (None, 1.0), ("a", "b"))
