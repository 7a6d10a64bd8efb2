"""Three documents that every renderer must take: plain, hostile and empty."""

import math
import struct
import zlib

from demele.report.document import (
    INK,
    Choice,
    Document,
    Graph,
    Heat,
    Images,
    Line,
    Lines,
    Mark,
    Matrix,
    Notice,
    Pill,
    Rows,
    Section,
    Strip,
    Strips,
    Table,
)
from demele.report.words import name, written

HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "</script><script>document.title='gone'</script>",
    r"|$\&%_{}~^#`*[x](y) {{data}}",
    "\N{RIGHT-TO-LEFT OVERRIDE}שלום\N{POP DIRECTIONAL ISOLATE}",
    "lone \ud800 surrogate\x00\x1b[31m\n",
    "x" * 300,
    "表現の独立性を測る" * 4,
    "'\"><b>&amp;",
)
BAD = (None, math.nan, math.inf, -math.inf)


def png(width: int = 2, height: int = 2, grey: int = 90) -> bytes:
    """A grey image."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + bytes([grey]) * width for _ in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def plain() -> Document:
    """Every block and every figure once."""
    models = [("claude_3_opus", 0.852, 0.842, 0.862), ("gpt_4o_2024_05_13", 0.848, 0.839, 0.858)]
    models += [("gemini_1_5_pro_0409", 0.820, 0.809, 0.830), ("llama_3_70b", 0.801, 0.790, 0.812)]
    states = [Pill("better", "good", 3), Pill("inconclusive", "open", 2), Pill("worse", "bad", 1)]
    states += [Pill("no data", "none")]
    rows = []
    for (who, value, low, high), state in zip(models, states, strict=True):
        marks = [Mark("span", low - 0.82, high - 0.82), Mark("dot", value - 0.82)]
        rows.append(Strip(name(who), marks, written(value - 0.82, "points"), state))
    strips = Strips(
        "Difference to the baseline",
        rows,
        "points",
        "percentage points",
        sides=("baseline better", "candidate better"),
        zero=0.0,
    )
    columns = {"Model": "text", "Accuracy": "percent", "95% interval": "percent", "Beats": "count"}
    columns |= {"p": "p?", "Verdict": "text"}
    table = Table(
        "Accuracy of each model",
        columns,
        [
            (name(who), value, (low, high), 7 - place, 0.00002 * 60**place, states[place])
            for place, (who, value, low, high) in enumerate(models)
        ],
        note="Intervals are corrected for 45 comparisons (Holm).",
    )
    bars = Strips(
        "Scores",
        [
            Strip(metric, [Mark("bar", value), Mark("tick", chance, None, INK)], written(value))
            for metric, value, chance in (("MIG", 0.046, 0.001), ("SAP", 0.121, 0.02), ("DCI", 0.31, 0.15))
        ],
        series={0: "score", INK: "chance level"},
    )
    x = [step / 20 for step in range(21)]
    roots = [math.sqrt(at) for at in x]
    curves = Lines(
        "Score by epoch",
        [
            Line("MIG", x, roots, [root * 0.9 for root in roots], [root * 1.1 for root in roots]),
            Line("SAP", x, [at**2 for at in x]),
            Line("runs", x[::4], [0.3, 0.5, None, 0.2, 0.6, 0.7]),
        ],
        ("noise rate", "percent"),
        ("score", "number"),
        at=[(0.42, "holds up to 42%")],
        zero=0.0,
    )
    codes, factors = ["z1", "z2", "z3"], ["class", "slant", "width", "height"]
    waves = enumerate([*codes, *factors], start=1)
    heat = Heat(
        "Shares of the factor's entropy",
        codes,
        factors,
        [[0.31, 0.02, 0.12, None], [0.24, 0.11, 0.04, 0.15], [0.01, 0.0, 0.82, 0.07]],
        "percent.0",
        ("code", "factor"),
        rings=frozenset({(2, 2), (0, 0)}),
        struck=frozenset({(2, 0), (2, 1)}),
        scatter=Rows({key: [math.sin(row * wave) for row in range(200)] for wave, key in waves}),
    )
    signed = Heat("Rank correlations", ["MIG", "SAP"], ["MIG", "SAP"], [[1.0, -0.62], [-0.62, 1.0]], scale="both ways")
    cells = {(0, 0): Pill("holds", "good"), (0, 1): Pill("fails", "bad")}
    cells |= {(1, 0): Pill("open", "open"), (1, 2): Pill("n/a", "none")}
    grid = Matrix(
        "Criteria",
        ["mig", "sap"],
        ["rotation", "noise", "duplicates"],
        cells,
        {"holds": "criterion met", "fails": "criterion not met"},
        {
            (0, 1): [
                "The score rises with noise.",
                Table("Seeds", {"Scenario": "text", "Seeds": "count"}, [("noise", 20)]),
                Table("Steps", {"Noise": "percent", "Score": "number"}, [(0.1, 0.2), (0.5, 0.4)]),
            ]
        },
    )
    long = Table(
        "Every row", {"Row": "text", "Value": "number"}, [(f"row {row}", (row * 7) % 50 / 50) for row in range(50)]
    )
    answers = Strips("Answers", [Strip("right", [Mark("bar", 4200)])], "count")
    network = Graph(
        "Network",
        {"in": (0, 0, "input"), "a": (1, -1, "node"), "b": (1, 1, "node"), "out": (2, 0, "output")},
        [("in", "a", 1.0), ("in", "b", 0.3), ("a", "out", 0.8), ("b", "out", None)],
    )
    return Document(
        kind="Comparison of classifiers",
        title="Four language models on MMLU-Redux",
        headline=f"{name('claude_3_opus')} is better than the baseline {name('gemini_1_5_pro_0409')} by 3.2 pp.",
        tone="good",
        sentences=["The result holds up to 1.2% wrong labels.", "With 5% wrong labels it is inconclusive."],
        figure=strips,
        table=table,
        scope=["5,432 questions", "4 models", "500 expert-checked labels"],
        next=[("relabel about 500 random rows.", "demele audit plan data.csv::label --rows 500")],
        sections=[
            Section("Scores", [bars, table, "A paragraph.", None, ""]),
            Section("Code-factor matrix", [heat, signed]),
            Section("Criteria", [grid]),
            Section("Curves", [Choice("Curve", {"One": [curves], "Other": [answers]})]),
            Section("Traversals", [Images("Traversals", [("z1", [("step 1", png()), ("step 2", png(grey=200))])], 12)]),
            Section("Structure", [network]),
            Section("Data", [long]),
        ],
        assumptions=["At most 108 labels are wrong", "Rows are a random sample of the population."],
        notes=[
            Notice("the probe saw few rows", "fragile", ["dci"]),
            Notice("3 rows were left out", "warning"),
            Notice("Answers were read as text."),
        ],
        methods=[
            "The models were compared with demele [@demele].",
            "Information is that of the gap [@chen2018isolating].",
        ],
        signatures=[("compare", "compare(noise=0.02, level=0.95)  # n=5432, demele=0.1.0")],
        version="0.1.0",
    )


def hostile() -> Document:
    """Names that are markup, signs of control or very long, and values that are missing or infinite, everywhere."""
    names = [name(text) for text in HOSTILE]
    texts = list(HOSTILE)
    rows = []
    for i, one in enumerate(names):
        marks = [Mark("span", BAD[i % 4], 0.5), Mark("dot", BAD[i % 4]), Mark("bar", BAD[(i + 1) % 4])]
        rows.append(Strip(one, [*marks, Mark("tick", 0.1)], texts[1], Pill(texts[2], "open")))
    strips = Strips(
        texts[0],
        rows,
        "percent",
        texts[2],
        {0: texts[1]},
        sides=(texts[0], texts[1]),
        zero=0.0,
    )
    lines = Lines(
        texts[1],
        [Line(one, [0.0, 1.0, 2.0, 3.0], BAD, BAD, BAD) for one in names],
        (texts[0], "number"),
        (texts[2], "percent"),
        at=[(1.0, texts[0])],
    )
    heat = Heat(
        texts[2],
        names,
        names,
        [[BAD[(i + j) % 4] for j in range(8)] for i in range(8)],
        axes=(texts[0], texts[1]),
        scatter=Rows({one: [0.0, math.nan, math.inf] for one in names}),
    )
    grid = Matrix(
        texts[3],
        names,
        names,
        {(i, j): Pill(texts[i], "bad") for i in range(8) for j in range(8)},
        {texts[0]: texts[1]},
        {(i, 0): [texts[i], texts[0]] for i in range(8)},
    )
    forms = ("text", "number", "percent", "points", "p", "count", "code?", "text")
    table = Table(
        texts[6],
        dict(zip(texts, forms, strict=True)),
        [(one, *BAD, None, texts[0], Pill(texts[1])) for one in names],
        note=texts[1],
    )
    places = {one: (i, i % 3, texts[0]) for i, one in enumerate(names)}
    graph = Graph(texts[5], places, [(names[0], names[1], None), (names[1], names[2], 0.0)])
    return Document(
        kind=texts[0],
        title=texts[1],
        headline=f"Keep {names[0]} and {names[3]}: {names[4]}.",
        tone="bad",
        sentences=texts,
        figure=strips,
        table=table,
        scope=texts,
        next=[(texts[0], "demele score 'a b.csv' " + "y" * 200)],
        sections=[
            Section(texts[0], [table, lines, heat, grid, *texts]),
            Section("Images", [Images(texts[7], [(texts[0], [(texts[7], png())])])]),
            Section(texts[2], [Choice(texts[7], {one: [table] for one in names})]),
            Section("Graph", [graph]),
        ],
        assumptions=texts,
        notes=[Notice(text, "warning", names) for text in texts],
        methods=[f"{text} [@demele]." for text in texts],
        signatures=[(text, text) for text in texts],
        version=texts[1],
    )


def empty() -> Document:
    """A headline only."""
    return Document(kind="Nothing", title="Nothing", headline="There is nothing to say.")


DOCUMENTS = {"plain": plain, "hostile": hostile, "empty": empty}
