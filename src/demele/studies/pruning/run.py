"""Fabrics pruned in many ways, with true and wrong labels: which way is better."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import Executor
from typing import Literal

from demele.core.outputs import write_whole
from demele.data.images import ImageSet
from demele.studies.folders import StudyFolder, study_folder
from demele.studies.pruning.configurations import WHOLE, PruningConfiguration
from demele.studies.pruning.files import FILE, header, study_of
from demele.studies.pruning.planning import PruningPlan, checked_plan
from demele.studies.pruning.study import PruningStudy
from demele.studies.pruning.work import decided, trained_or_pruned

#: Parts of the progress: whole fabrics, pruned ones, decisions.
_SHARES = ((0.0, 0.3), (0.3, 0.99), (0.99, 1.0))


def pruning_study(
    data: tuple[ImageSet, ImageSet] | None = None,
    *,
    preset: Literal["ci", "embedded", "print"] = "embedded",
    configurations: Sequence[PruningConfiguration] | None = None,
    noises: Sequence[str] | None = None,
    seeds: int | None = None,
    store: StudyFolder = None,
    n_jobs: int = 1,
    executor: Executor | None = None,
) -> PruningStudy:
    """Prune fabrics in many ways, with true and wrong labels, and test which way is better.

    A whole fabric is trained for each seed under each label noise; every way to prune begins with it, so that ways are
    compared in pairs. All train for the same number of epochs. What print claims about them is then tested twice: over
    seeds, and by comparisons on a test set whose labels are wrong as those of the training are.

    Parameters
    ----------
    data : (ImageSet, ImageSet), optional
        Of training and test; their first factor is the class. By default glyphs among clutter.
    preset : {"ci", "embedded", "print"}
        Structure, training, ways and noises that go together. ``"embedded"``: 22 ways, 5 seeds, three noises, some 40
        minutes on two cores. ``"ci"``: seconds, to see it at work. ``"print"``: the 18 published ways and their
        control, 200 epochs, for a GPU and your own images of 32 x 32.
    configurations : sequence of PruningConfiguration, optional
        Other ways.
    noises : sequence of str, optional
        Label noises: none, uniform:RATE, visibility:RATE or resubstitution:RATE (default: by preset). See
        :func:`demele.data.clutter_labels`.
    seeds : int, optional
        Whole fabrics under each noise (default: by preset).
    store : str or Path, optional
        Folder that keeps the study. A study that was killed goes on where it was, to the same bits; a later one with
        more seeds, noises or ways adds to it.
    n_jobs : int, default 1
        Processes, -1 for all processors. Each has one thread. Rows are the same bits for any number.
    executor : concurrent.futures.Executor, optional
        Where to work instead; it must see the folder.

    Returns
    -------
    PruningStudy

    Warns
    -----
    DemeleWarning
        If several shares end in one network, because as many links or weights must stay: it is run once. The early and
        late ways of ``"print"`` do.

    Raises
    ------
    InputError, InputTypeError, UnknownNameError
        Before anything is trained; also if the folder is of another study, or another process writes to it.
    MissingExtraError
        Without PyTorch (``demele[torch]``).

    Notes
    -----
    Source: Benjelloun, sections 7.5 to 7.8, on other images and with a smaller fabric; ``"late"`` is after 7 of 10
    epochs, as it is there just before the rate falls.

    Examples
    --------
    >>> from demele import lab
    >>> found = lab.pruning_study(preset="ci")
    >>> len(found.to_frame())
    4
    >>> bool(found.to_frame()["error"].max() < 0.9)
    True
    """
    plan = checked_plan(data, preset=preset, configurations=configurations, noises=noises, seeds=seeds)
    return run_pruning_plan(plan, store=store, n_jobs=n_jobs, executor=executor)


def run_pruning_plan(
    plan: PruningPlan,
    *,
    store: StudyFolder = None,
    n_jobs: int = 1,
    executor: Executor | None = None,
) -> PruningStudy:
    """Train, prune and decide what a plan holds and the folder does not; see :func:`pruning_study`.

    Raises
    ------
    InputError, OutputError
    """
    with study_folder(store, plan.identity, n_jobs=n_jobs, executor=executor) as (folder, sweep):
        about = header(plan.settings(), folder)
        write_whole(folder / FILE, json.dumps(about, indent=1) + "\n")
        whole, pruned = plan.fabrics(folder, WHOLE), plan.fabrics(folder, *plan.configurations)
        sweep.run(trained_or_pruned, whole, what="whole fabrics to train", share=_SHARES[0])
        sweep.run(trained_or_pruned, pruned, what="fabrics to prune", share=_SHARES[1])
        sweep.run(decided, plan.decisions(folder, sweep.records), what="seeds to decide", share=_SHARES[2])
        return study_of(about, sweep.records)
