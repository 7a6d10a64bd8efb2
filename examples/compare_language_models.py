"""Is one language model better than another, when some of the published answers are wrong?"""

import tempfile
from pathlib import Path

import demele
from demele import classifiers, labels

# --8<-- [start:data]
questions = demele.data.load_example("mmlu_redux")
print(questions)
published, experts = questions.labels, questions.true_labels

old = questions.predictions["gemini_1_5_pro_0409"].rename("gemini")
new = questions.predictions["claude_3_opus"].rename("claude")
given = {"classes": questions.classes}  # "no answer" is predicted now and then, and is never a label: no note of it
# --8<-- [end:data]

# --8<-- [start:assess]
for noise in (None, 0.02):
    accuracy = classifiers.assess(new, published, noise=noise, **given)["accuracy"]
    print(f"\nnoise={noise}: {accuracy.value:.4f} {accuracy.interval}, corrected {accuracy.corrected}")
# --8<-- [end:assess]

# --8<-- [start:paired]
decision = classifiers.compare(old, new, published, **given)
print(f"\n{decision}")
print(decision.assumptions)
# --8<-- [end:paired]

# --8<-- [start:bounded]
for noise in (0.01, 0.02):
    decision = classifiers.compare(old, new, published, noise=noise, **given)
    print(f"\n{decision}")
    print(*decision.assumptions, sep="\n")
# --8<-- [end:bounded]

# --8<-- [start:audit]
plan = labels.draw_audit(questions.n, 300, seed=0)
audit = plan.answered(experts[plan.rows])  # here the experts have answered already
decision = classifiers.compare(old, new, published, audit=audit, **given)
print(f"\n{decision}")

counts = labels.estimate_transition(audit.labels, published[audit.rows])
print(f"{counts.wrong} of {counts.n} audited labels are wrong: {counts.rate:.1%} {counts.rate_interval(level=0.95)}")
accuracy = classifiers.assess(new, published, audit=audit, **given)["accuracy"]
print(f"accuracy of claude: {accuracy.corrected}")
# --8<-- [end:audit]

# --8<-- [start:sequential]
comparison = classifiers.SequentialComparison(old, new, published, seed=0, **given)
print(f"\n{comparison}, about {comparison.expected_labels:.0f} to go")
while not comparison.done:
    rows = comparison.ask(10)
    comparison.tell(rows, experts[rows])
print(comparison)
print(comparison.decision())
# --8<-- [end:sequential]

# --8<-- [start:several]
disagreement = labels.disagreement(questions.predictions)  # where the ten models disagree
wider = labels.draw_audit(questions.n, 500, disagreement=disagreement, seed=0)
ranking = classifiers.rank(
    questions.predictions, published, audit=wider.answered(experts[wider.rows]), true_labels=experts, **given
)
print(f"\n{ranking}")
# --8<-- [end:several]

# --8<-- [start:truth]
print("\nOn the corrected answers:")
print(classifiers.compare(old, new, experts, method="worst-case", noise=0, **given))
print(classifiers.rank(questions.predictions, experts, method="worst-case", noise=0, **given))
# --8<-- [end:truth]

# --8<-- [start:keep]
with tempfile.TemporaryDirectory() as folder:  # use a folder of yours
    decision.to_json(Path(folder) / "decision.json")
    decision.to_html(Path(folder) / "decision.html")
    ranking.to_html(Path(folder) / "ranking.html")
    ranking.to_frame().to_csv(Path(folder) / "ranking.csv", index=False)
    print("\nWritten:", *sorted(path.name for path in Path(folder).iterdir()))
print(decision.signature)
# --8<-- [end:keep]
