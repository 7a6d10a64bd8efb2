"""Four representations of the same 1797 images: which one holds the factors best, and how sure is that?"""

import tempfile
from pathlib import Path

import demele

# --8<-- [start:score]
METRICS = ["mig_sup", "mig", "explicitness"]  # modularity, compactness, explicitness

evaluations = {}
for name in ("pca", "ica", "nmf", "autoencoder"):
    sample = demele.data.load_example(name)
    codes = demele.Codes(sample.codes, name=name)
    evaluations[name] = demele.evaluate(codes, sample.factors, METRICS, n_bootstrap=50, n_permutations=10)

for name, evaluation in evaluations.items():
    print(name)
    for score in evaluation:
        print(f"  {score.metric:24}{score.value:.3f}  {score.interval}  chance {score.chance.mean:.3f}")
# --8<-- [end:score]

# --8<-- [start:native]
mig = evaluations["autoencoder"]["mig"]
print("\nMIG by factor:", {factor: round(value, 2) for factor, value in mig.native.items()})
print("\nInformation in nats:")
print(mig.matrix.round(2).to_string())
# --8<-- [end:native]

# --8<-- [start:keep]
with tempfile.TemporaryDirectory() as folder:  # use a folder of yours
    evaluation = evaluations["autoencoder"]
    evaluation.to_json(Path(folder) / "autoencoder.json")
    evaluation.to_frame().to_csv(Path(folder) / "autoencoder.csv", index=False)
    evaluation.to_html(Path(folder) / "autoencoder.html")
    print("\nWritten:", *sorted(path.name for path in Path(folder).iterdir()))

again = demele.replay(str(mig.signature), codes, sample.factors)  # the last ones of the loop: autoencoder
print("\nThe same number again:", again.value == mig.value)
print(mig.signature)
# --8<-- [end:keep]
