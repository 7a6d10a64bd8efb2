"""The gallery: every page that demele writes, what makes it, and its pictures on a screen, a telephone and paper.

The page is made at each build; the pictures by ``python -m tools.make_gallery``, which runs what the page shows.
"""

from dataclasses import dataclass
from pathlib import Path

PAGE, TITLE = "gallery.md", "Gallery"
PICTURES = Path(__file__).parents[1] / "docs" / "assets" / "gallery"
#: Width of the window in pixels, and how much of the height is kept. Paper is A4 without its margins.
VIEWS = {"light": (1200, 1500), "dark": (1200, 1500), "phone": (390, 1170), "print": (688, 1017)}


@dataclass(frozen=True)
class Shown:
    """One page: its name, what it answers, and the lines of the shell or of Python that write ``NAME.html``."""

    name: str
    title: str
    answers: str
    code: str
    language: str = "sh"
    #: A page of the documentation that says how to read it, and its title.
    more: tuple[str, str] | None = None
    #: What is run in the shell after lines of Python.
    then: str = ""


SHOWN = (
    Shown(
        "score",
        "Representations, side by side",
        "Which representation is better, by which property? Four codes of the same digits, by every metric.",
        "demele score --demo --report score.html",
        more=("tutorials/score-a-representation.md", "Score a representation"),
    ),
    Shown(
        "several",
        "Your representations, paired",
        "Is the difference between two representations more than other rows would change? The same resamples for both.",
        """\
import demele

samples = {name: demele.data.demo(name) for name in ("pca", "ica")}
for name, sample in samples.items():
    sample.codes.to_csv(f"{name}.csv", index=False)
samples["pca"].factors.to_csv("factors.csv", index=False)""",
        "python",
        ("tutorials/score-a-representation.md", "Score a representation"),
        "demele score pca.csv ica.csv --factors factors.csv --metrics mig,mig_sup,sap --bootstrap 50 "
        "--report several.html",
    ),
    Shown(
        "verdict",
        "One representation",
        "Which code holds which factor, what is lost, what is mixed? Then metrics, with intervals and chance.",
        """\
import demele

sample = demele.data.demo()
evaluation = demele.evaluate(sample.codes, sample.factors, ["mig_sup", "mig", "sap"], bootstrap=50, chance=20)
evaluation.to_html("verdict.html")""",
        "python",
        ("tutorials/score-a-representation.md", "Score a representation"),
    ),
    Shown(
        "rank",
        "Many classifiers, ranked",
        "Which of ten language models are shown to differ, though some labels are wrong, and which ranks remain?",
        "demele compare --demo --report rank.html",
        more=("tutorials/two-classifiers-on-noisy-labels.md", "Two classifiers on noisy labels"),
    ),
    Shown(
        "compare",
        "Two classifiers",
        "Is the candidate better than the model in use, and how many wrong labels does that verdict bear?",
        """\
import demele

questions = demele.data.label_set("mmlu_redux")
old, new = questions.predictions["gemini_1_5_pro_0409"], questions.predictions["claude_3_opus"]
decision = demele.evaluation.compare(old, new, questions.labels, classes=questions.classes, names=("gemini", "claude"))
decision.to_html("compare.html")""",
        "python",
        ("concepts/prudent-comparisons.md", "Prudent comparisons"),
    ),
    Shown(
        "plan",
        "What an audit would settle",
        "How many expert labels would it take to tell these two classifiers apart, and which design needs fewest?",
        """\
import demele

questions = demele.data.label_set("mmlu_redux")
pair = questions.predictions[["gemini_1_5_pro_0409", "claude_3_opus"]]
forecast = demele.evaluation.forecast_audits(pair, questions.labels, classes=questions.classes, draws=20)
forecast.to_html("plan.html")""",
        "python",
        ("howto/audit-your-test-set.md", "Audit your test set"),
    ),
    Shown(
        "assess",
        "One classifier",
        "How accurate is it, class by class, and how much of that do wrong labels leave open?",
        """\
import demele

images = demele.data.label_set("geirhos_16class_rotation")
noisy = demele.labels.add_uniform_noise(images.labels, 0.03, seed=0)
assessment = demele.evaluation.assess(images.predictions.iloc[:, 0], noisy.labels, noise=0.03)
assessment.to_html("assess.html")""",
        "python",
        ("concepts/noisy-labels.md", "Labels that may be wrong"),
    ),
    Shown(
        "metrics",
        "Metrics, measured themselves",
        "Which properties does each metric have, on representations whose truth is known?",
        "demele bench show --report metrics.html",
        more=("concepts/verdicts.md", "Verdicts"),
    ),
    Shown(
        "own-metric",
        "Your metric beside the published ones",
        "Does a metric of your own do what it claims?",
        """\
import numpy as np
import demele


def best_correlation(codes, factors):
    d = codes.shape[1]
    return float(np.abs(np.corrcoef(codes, factors, rowvar=False)[:d, d:]).max(axis=0).mean())


found = demele.bench.characterise(best_correlation, "source", seeds=5, n_samples=1000)
found.to_html("own-metric.html", beside=demele.bench.reference())""",
        "python",
        ("tutorials/bench-your-own-metric.md", "Bench your own metric"),
    ),
    Shown(
        "agreement",
        "Which metrics agree",
        "Do metrics rank trained models alike? 36 beta-VAEs on drawn sprites.",
        "demele study show --demo --report agreement.html",
        more=("howto/run-the-agreement-study.md", "Run the agreement study"),
    ),
    Shown(
        "methods",
        "Comparison methods, measured themselves",
        "How often does each way of comparing take a candidate that is not better, or miss one that is?",
        "demele bench comparisons --quick --report methods.html",
        more=("howto/measure-comparison-methods.md", "Measure comparison methods"),
    ),
    Shown(
        "vae",
        "What a VAE learnt",
        "What does each code draw, what does it hold, what is lost on the way? A small VAE, trained in half a minute.",
        """\
demele vae train sprites --size 16 --network mlp --latents 6 --beta 0.6 --rate 0.002 --steps 3000 --output vae.run
demele vae report vae.run sprites --size 16 --report vae.html""",
        more=("tutorials/evaluate-your-vae.md", "Evaluate the VAE you trained"),
    ),
    Shown(
        "fabric",
        "A pruned fabric",
        "What is left of a network after pruning, what does it cost in accuracy, and what is faster?",
        """\
demele fabric train --data clutter --images 3000 --layers 4 --channels 8 --epochs 5 --checkpoint fabric.run
demele fabric prune fabric.run --level links --fraction 0.5 --fine-tune 2 --output half.run
demele fabric show half.run --report fabric.html""",
        more=("howto/prune-a-fabric.md", "Prune a fabric and see what it gains"),
    ),
    Shown(
        "pruning",
        "Which way of pruning is better",
        "Under right and wrong labels: which differences between ways of pruning are shown, and which are not?",
        "demele study pruning show --demo --report pruning.html",
        more=("howto/run-the-pruning-study.md", "Run the pruning study"),
    ),
    Shown(
        "explanations",
        "Whether an explanation holds",
        "Does the prediction fall faster where a map says that it matters than elsewhere?",
        """\
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from demele.evaluation import perturbation_test

digits = load_digits()
model = LogisticRegression(max_iter=5000).fit(digits.data[:900] / 16, digits.target[:900])


def predict(images):
    return model.predict_proba(images.reshape(len(images), -1) / 16)


images = digits.images[900:1000]
weights = model.coef_[predict(images).argmax(axis=1)].reshape(-1, 8, 8)
noise = np.random.default_rng(0).random(images.shape)
maps = {"weights": weights, "weights x pixels": weights * images, "random numbers": noise}
perturbation_test(predict, images, maps, destroy="mean").to_html("explanations.html")""",
        "python",
        ("howto/does-an-explanation-hold.md", "Does an explanation hold?"),
    ),
)
_HEAD = f"""\
# {TITLE}

Every page that demele writes, and the lines that write it. A page is one file: it holds its pictures and data, asks no
network, and can be mailed, printed and archived. Each is shown in light and dark, on a telephone and as its
first sheet of paper.

The pictures are made by `python -m tools.make_gallery`, which runs the lines that are shown.
"""
#: What is shown where code is written.
_NOTEBOOKS = """\
## In notebooks

In a notebook every result is a card: its sentence, its warnings and its first rows; scores, decisions, rankings and
assessments are also drawn, by `.plot()`. Two that can be run: [how good is a
representation?](notebooks/a-representation.ipynb) and [is one classifier better than another, when labels are
wrong?](notebooks/two-classifiers.ipynb). More: [Pictures, notebooks, sentences](howto/pictures-and-notebooks.md).
"""


def page(folder: Path = PICTURES) -> str:
    """Return the gallery, with the pages whose pictures are there."""
    shown = (_entry(item) for item in SHOWN if (folder / f"{item.name}-light.webp").exists())
    return "\n".join([_HEAD, *shown, _NOTEBOOKS])


def _entry(item: Shown) -> str:
    more = f" [{item.more[1]}]({item.more[0]})." if item.more else ""
    pictures = "\n".join(
        f'<a href="assets/gallery/{item.name}-{view}.webp"><img src="assets/gallery/{item.name}-{view}.webp" '
        f'alt="{item.title}, {view}" loading="lazy"></a>'
        for view in VIEWS
    )
    return (
        f"## {item.title}\n\n{item.answers}{more}\n\n"
        f'<div class="gallery">\n{pictures}\n</div>\n\n'
        f"```{item.language}\n{item.code}\n```\n" + (f"\n```sh\n{item.then}\n```\n" if item.then else "")
    )
