"""Old spellings of commands and options, which are refused with the new ones."""

from collections.abc import Collection, Mapping

#: Commands that have another name.
NEW_COMMANDS: Mapping[str, str] = {
    "unsupervised": "score CODES --unsupervised",
    "breakdown": "score CODES CODES FACTORS --stability",
    "downstream": "probe downstream",
    "udr": "probe udr",
    "metrics": "list metrics",
    "data list": "list datasets",
    "data": "lab data",
    "vae": "lab vae",
    "fabric": "lab fabric",
    "study": "lab study",
    "noise add": "labels corrupt",
    "noise estimate": "labels aggregate",
    "noise clean": "labels clean",
    "bench comparisons": "bench methods",
}
#: Options that have another name; of several, the one that the command has.
NEW_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "--noise-rate": ("--noise RATE",),
    "--transition": ("--noise FILE",),
    "--report": ("-o FILE.html",),
    "--methods": ("-o NAME.methods.md",),
    "--demo": ("demele demo",),
    "--chance": ("--permutations",),
    "--name": ("--names",),
    "--details": ("--format json",),
    "--factors": ("the factors as the last file",),
    "--group": ("--runs NAME=FILES",),
    "--factor-audit": ("--factor-noise FACTOR=FILE",),
    "--without-best": ("--task without-best",),
    "--new-values": ("--task new-values",),
    "--fairness": ("--task fairness",),
    "--splitting": ("--task splitting",),
    "--absorption": ("--task absorption",),
    "--test-rows": ("--test",),
    "--rows": ("--sizes", "--size", "--sample"),
    "--save-transition": ("-o NAME.noise.csv",),
    "--each-annotator": ("-o NAME.annotators.csv",),
    "--save-annotations": ("-o NAME.annotations.csv",),
    "--doubt": ("--disagreement",),
    "--human-error": ("--expert-error",),
    "--suspects": ("--cleaning FILE", "-o NAME.suspects.csv"),
    "--common": ("--ids common",),
    "--ask": ("demele audit next --answers FILE",),
    "--target": ("--inference",),
    "--digest": ("--check digest",),
    "--option": ("--options",),
    "--size": ("--image-size",),
    "--save": ("-o FILE.json.gz",),
    "--pictures": ("-o FILE.svg",),
    "--true-labels": ("the labels as a file, LABELS",),
    "--rate": ("--lr",),
    "--noise": ("--label-noise",),
    "--labels": ("--image-labels",),
    "--picture": ("-o FILE.svg",),
    "--positive": ("--of CLASS",),
    "--pairs": ("-o NAME.pairs.csv",),
}
#: What lists, by the first words of the commands that had --list.
NEW_LISTS: Mapping[str, str] = {
    "lab study": "-o NAME.differences.csv",
    "lab data": "demele list datasets",
    **dict.fromkeys(("score", "bench metrics"), "demele list metrics"),
    **dict.fromkeys(("compare", "bench methods"), "demele list methods"),
}


def new_option(flag: str, known: Collection[str], command: str) -> str | None:
    """Return what to write instead of an old option of a command; None if it never was one."""
    if flag == "--list":
        return next((new for words, new in NEW_LISTS.items() if command.startswith(f"demele {words}")), None)
    news = NEW_OPTIONS.get(flag, ())
    return next((new for new in news if not new.startswith("--") or new.split()[0] in known), None)
