"""The paired worst case: what wrong labels can do to a comparison of accuracies, at most.

Only instances on which two classifiers disagree can move the difference of their accuracies. Take the claim that the
candidate is better. A wrong label that agrees with the candidate (``won``) hurts it most if the baseline is
right there: the difference falls by 2. One that agrees with neither lets it fall by 1, so does one that agrees with the
candidate where neither is right. Everything below counts how often that can happen within what is known of the noise.
"""

from dataclasses import dataclass, replace

import numpy as np

from demele.classifiers.intervals import overlap_gap, sampling_gap, unseen_losses
from demele.classifiers.question import Groups, Outcomes, PairCounts, Question, alike_share, effective_shares
from demele.core.arrays import Counts, Flags, Floats
from demele.core.labelled import Indices
from demele.core.proportions import exact_high, exact_low, normal_quantile, score_interval
from demele.core.result import Note
from demele.noise.budget import NoiseBudget, noise_budget
from demele.noise.transition import TransitionCounts, TransitionMatrix

#: The t quantile of 3 degrees of freedom exceeds 2, the most that four groups reach, up to this error.
USUAL_TAIL = 0.05


def group_counts(question: Question, groups: Groups, pair: int) -> PairCounts:
    """Count the disagreements of one pair in every group."""
    data = question.data
    first, second = (data.predictions[models[pair]] for models in (question.baseline, question.candidate))
    apart = np.flatnonzero(first != second)
    codes, labels = groups.codes[apart], data.labels[apart]
    won, lost = second[apart] == labels, first[apart] == labels
    parts = (np.bincount(codes[rows], minlength=groups.count) for rows in (lost, won, ~(won | lost)))
    return PairCounts(*(part.astype(np.float64) for part in parts))


# --- the paired test at the worst case -------------------------------------------------------------------------------


def squares_gained(counts: PairCounts, drop: float) -> float:
    """Return how much wrong labels can add to the sum of squared gaps of the groups, at most.

    Notes
    -----
    The gap d_g of a group can fall by c_g = 2 won_g + neither_g, and its square then rises by c_g (c_g - 2 d_g). The
    rise is convex in the fall, hence at most c_g - 2 d_g per unit of it. Groups are filled, the largest of these first
    and positive ones only, until the fall of all together is ``drop``.

    Examples
    --------
    >>> squares_gained(PairCounts(np.array([0.0, 1, 2]), np.array([3.0, 1, 0]), np.zeros(3)), 4)
    4.0
    """
    room = 2 * counts.won + counts.neither
    rise = room - 2 * counts.gap
    order = np.argsort(-rise, kind="stable")
    room, rise = room[order], np.maximum(rise[order], 0.0)
    return float(np.clip(drop - (np.cumsum(room) - room), 0.0, room) @ rise)


def even_steps(size: Floats, tail: float) -> tuple[float, float, int]:
    """Return what chance makes of even steps of either sign at an error of ``tail``; exact for steps of one size.

    Parameters
    ----------
    size : array
        Sizes >= 0 of the terms of a sum.
    tail : float in (0, 0.5]

    Returns
    -------
    (float, float, int)
        c (2 b - k) with c = sum size^2 / sum size, k = sum size / c rounded up, and b the largest count of heads that
        is still not rare among k tosses. A sum must exceed it. Then c and k.

    Examples
    --------
    Five steps of one sign are met by chance once in 32 times, so they show nothing at 2.5%; six do:

    >>> even_steps(np.ones(5), 0.025), even_steps(np.ones(6), 0.025)
    ((5.0, 1.0, 5), (4.0, 1.0, 6))
    """
    from scipy.stats import binom

    total = float(size.sum())
    if total <= 0:
        return 0.0, 1.0, 0
    clump = float(size @ size) / total
    steps = int(np.ceil(total / clump - 1e-9))
    return clump * (2 * float(binom.isf(tail, steps, 0.5)) - steps), clump, steps


def paired_test(counts: PairCounts, drop: float, groups: Groups, tail: float) -> tuple[float, float]:
    """Test "the candidate is better" by groups, at the worst that wrong labels can do.

    Parameters
    ----------
    counts : PairCounts
        Of every group.
    drop : float
        The lead of the candidate falls by so many right predictions at most.
    groups : Groups
    tail : float in (0, 0.5]

    Returns
    -------
    low : float
        Lower limit of the lead, in rows of this test set; above 0 if and only if the claim is made.
    p_value : float

    Notes
    -----
    With S the lead less ``drop`` and V = G / (G - 1) (sum d_g^2 + what :func:`squares_gained`), S / sqrt(V) is held
    against the t distribution with G - 1 degrees of freedom; S and V are each at their worst. Few groups with a gap do
    not make a normal sum: four of one mind are a chance of 1 in 16, however many agree besides. So S must also exceed
    what k even steps of c rows do by the binomial distribution, c = sum d_g^2 / sum |d_g|, k = sum |d_g| / c: groups
    that are equal are tested exactly. Where nothing is claimed, the limit is at least as far as
    :meth:`GroupedPairs.unseen` says.
    """
    from scipy.special import stdtr, stdtrit
    from scipy.stats import binom

    lead = float(counts.gap.sum()) - drop
    variance = groups.spread() * (float(counts.gap @ counts.gap) + squares_gained(counts, drop))
    deviation = float(np.sqrt(variance))
    even, clump, steps = even_steps(np.abs(counts.gap), tail)
    low = lead - max(float(stdtrit(groups.count - 1, 1 - tail)) * deviation, even)
    p_value = float(stdtr(groups.count - 1, -lead / deviation)) if deviation else 1.0
    # Rounding must not make half a step of none.
    met = np.ceil((steps + lead / clump) / 2 - 1e-9)
    p_value = max(p_value, float(binom.sf(met - 1, steps, 0.5)))
    if low > 1e-9:
        return low, p_value
    unseen = float(GroupedPairs.of([counts.disagreements], groups).unseen(np.array([lead]), tail)[0])
    return min(low, lead - unseen, 0.0), max(p_value, tail)


def degrees_of(met: int, tail: float) -> int:
    """Degrees of freedom of a limit from so many groups that say anything.

    One less than these, but at least 3 at the usual errors: with as many, up to four groups that agree never show
    anything; with fewer, a limit that also depends on exact ones would be useless.
    """
    return max(met - 1, 3 if tail <= USUAL_TAIL else 1)


# --- disagreements alone: what needs no label ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GroupedPairs:
    """How the disagreements of each pair lie in groups; of rows apart, each row is a group.

    Attributes
    ----------
    rows : array of shape (pairs,)
        Rows on which the two disagree.
    clump : array of shape (pairs,)
        Sum over groups of the squared numbers of these rows, divided by their number: the mean number in the group of a
        row.
    largest : array of shape (pairs,)
        Share of them that the largest group has.
    of_all : float
        The same as ``clump`` of all rows.
    n : int
        Rows of the test set.
    """

    rows: Floats
    clump: Floats
    largest: Floats
    of_all: float
    n: int

    @classmethod
    def of(cls, apart: list[Floats], groups: Groups) -> "GroupedPairs":
        """Gather it from the disagreements of each pair in each group."""
        rows = np.array([part.sum() for part in apart])
        squares, most = np.array([part @ part for part in apart]), np.array([part.max() for part in apart])
        met = np.maximum(rows, 1.0)
        n = int(groups.codes.size)
        return cls(rows, np.where(rows > 0, squares / met, 1.0), most / met, float(groups.sizes @ groups.sizes) / n, n)

    @classmethod
    def asked(cls, question: Question) -> "GroupedPairs":
        """Gather it for the pairs of a question."""
        groups, data = question.clusters, question.data
        if groups is None:
            rows = data.disagreements[question.baseline, question.candidate].astype(np.float64)
            return cls(rows, np.ones(rows.size), np.zeros(rows.size), 1.0, data.n)
        return cls.of([group_counts(question, groups, pair).disagreements for pair in range(question.n_pairs)], groups)

    def sampling_gap(self, tail: float) -> Floats:
        """Gap of right predictions that chance shows with probability ``tail`` if the candidate is not better.

        The gap d_g of a group is at most its disagreements D_g, and a sum of independent +-D_g is the worst: about
        z sqrt(sum D_g^2). Where groups are few that is too near, so it is at least the exact gap of as many even steps
        (see :func:`~demele.classifiers.intervals.sampling_gap`), each of ``clump`` rows.
        """
        steps = np.ceil(self.rows / self.clump - 1e-9).astype(np.int64)
        exact: Floats = self.clump * sampling_gap(steps, tail)
        if self.of_all == 1:  # rows apart
            return exact
        return np.maximum(exact, normal_quantile(1 - tail) * np.sqrt(self.clump * self.rows))

    def unseen(self, gap: Floats, tail: float) -> Floats:
        """How many more rows like those lost a population may have than were met, scaled to this test set.

        As :func:`~demele.classifiers.intervals.unseen_losses`, of the groups that disagreements make, and at
        least what groups of all rows leave open that none of them was met.
        """
        met = self.clump * unseen_losses(self.rows / self.clump, gap / self.clump, float(self.n) / self.clump, tail)
        none = self.of_all * unseen_losses(0, 0, self.n / self.of_all, tail)
        return np.maximum(met, none)


# --- what an audit and a guess show ----------------------------------------------------------------------------------


def design_effect(expected: Floats, size: Floats, groups: Groups, variance: float) -> float:
    """How much more a sum varies over samples of groups than over as many rows apart, from a guess of its terms.

    Parameters
    ----------
    expected, size : arrays of shape (n,)
        What each row adds according to the guess, and the square root of the mean square of what it may truly add.
    groups : Groups
    variance : float
        Variance of the sum, for rows apart; its terms squared.

    Returns
    -------
    float
        From 1 to that of groups whose terms all have one sign.

    Notes
    -----
    With r the share of the variance that the guess explains, guessed terms of two rows of a group have r^2 times the
    covariance of the true ones if labels err independently given these. So the sum over pairs of rows of one group is
    divided by r^2: otherwise, noise of the labels would hide the correlation of the rows of a group.
    """
    most = float((groups.sums(size) ** 2).sum() / (size @ size)) if size.any() else 1.0
    if variance <= 0:
        return most
    apart = expected - expected.mean()
    own = float(apart @ apart)
    explained = min(own / variance, 1.0)
    within = groups.spread() * float((groups.sums(apart) ** 2).sum()) - own
    if explained <= 0:
        return most
    return float(np.clip(1 + within / explained**2 / variance, 1.0, most))


@dataclass(frozen=True, slots=True)
class Reach:
    """How far wrong labels can move a pair against the claim that the candidate is better. Shape (n_pairs,) each.

    Attributes
    ----------
    exchanged : array
        At most so many labels that agree with the candidate hide that the baseline is right (each costs 2).
    granted : array
        At most so many labels that agree with neither hide that the baseline is right (each costs 1).
    drop : array
        Largest total fall of the candidate's lead in correct predictions over the baseline.
    wrong : array
        At most so many labels are wrong.
    """

    exchanged: Counts
    granted: Counts
    drop: Counts
    wrong: Counts


def worst_case(question: Question) -> Outcomes:
    """Decide by the worst that the label noise supplied can do, for every pattern of wrong labels within it.

    Parameters
    ----------
    question : Question
        On accuracy; ``noise`` is a rate, a transition matrix or transition counts.

    Returns
    -------
    Outcomes
        ``"population"``: McNemar's exact test, one-sided at ``question.tail``, on the true labels least favourable to
        the claim; its p-value is the largest within the noise. ``"test_set"``: the difference of the numbers correct
        stays positive. ``"overlap"``: the score intervals on true labels would not overlap. The interval is the union
        over the patterns of wrong labels, and excludes 0 if and only if a claim is made. For the population each side
        errs in sign with probability ``question.tail`` at most, in size with twice that: it joins an exact limit of the
        candidate's share of the decided disagreements to one of how many there are.

    Notes
    -----
    With a = lost, b = won, o = neither and at most m wrong labels, t = min(m, b), u = min(m - t, o): the true labels
    least favourable to the candidate count a + t + u against b - t. Some true labels reach them, so the bound is exact.
    Every step towards them raises the p-value P(Bin(a + b, 1/2) >= b), hence the test keeps its level for every pattern
    of wrong labels, whatever they depend on.

    With a transition, at most n_jk labels k hide class j; see :func:`reach`. Its limits hold with a certain confidence
    only: then they and the test have half of the error each, and the p-value adds the error of the limits to that of
    the test (Berger and Boos 1994). Where nothing is tested, the limits have it whole.

    Cost: as :meth:`demele.classifiers.question.Question.counts`; with a transition, 2 K products of matrices more.
    """
    tail = question.tail / 2 if question.inference == "population" else question.tail
    noise: float | TransitionMatrix | TransitionCounts = question.noise  # type: ignore[assignment]  # demanded
    budget = noise_budget(noise, question.data.labels, question.data.k, tail=tail)
    noise_error = 0.0 if budget.level is None else tail
    # Both claims of each pair, every one once: in a ranking, the claims of one pair are those of another.
    m = len(question.data.predictions)
    ends = question.baseline, question.candidate
    orders = np.stack([m * ends[0] + ends[1], m * ends[1] + ends[0]])
    claims, places = np.unique(orders, return_inverse=True)
    asked = replace(question, baseline=claims // m, candidate=claims % m)
    counts, far = asked.counts(), reach(asked, budget)
    if question.inference == "population":
        better, low, p_value = _population(asked, counts, far, noise_error)
    else:
        n, lead = asked.data.n, counts.gap - far.drop
        low = lead / n
        if question.inference == "overlap":
            first, second = asked.successes()
            trials, level = np.full(first.size, float(n)), question.level
            # The ends of a score interval increase with the number right, so these are the worst ends.
            least, _ = score_interval(np.maximum(second - far.wrong, 0), trials, level=level)
            low = least - score_interval(np.minimum(first + far.wrong, n), trials, level=level)[1]
            # The difference is bounded more sharply than both numbers right; the widths are then taken where widest.
            if not isinstance(question.noise, float | int):
                needed = overlap_gap(first, second, n, wrong=far.wrong, level=level)
                low = np.maximum(low, (lead - needed) / (n + normal_quantile((1 + level) / 2) ** 2))
        better, p_value = low > 0, np.where(low > 0, noise_error, 1.0)
    (candidate, baseline), (low, high), (p_value, _), (fall, rise) = (
        part[places.reshape(orders.shape)] for part in (better, low, p_value, far.drop)
    )
    counts = question.counts()
    # Union, for each model, of the score intervals over the numbers right that the noise allows. Limits of the noise
    # that may fail share the error.
    (hits, trials), level = question.proportions, question.level if budget.level is None else (1 + question.level) / 2
    share: Floats | float = 1.0
    if question.clusters is not None:
        # Wrong labels may hide that the rows of each group are all alike.
        share = alike_share(question.clusters, level=level)
        if not budget.wrong:
            share = effective_shares(question.data, "accuracy", [None], question.clusters, level=level)
    extremes = np.maximum(hits - budget.wrong, 0), np.minimum(hits + budget.wrong, trials)
    kept = [score_interval(least * share, trials * share, level=level) for least in extremes]
    return Outcomes(
        candidate=candidate,
        baseline=baseline,
        difference=counts.gap / question.data.n,
        low=low,
        high=-high,
        method={
            "population": "exact paired interval at the worst case"
            if question.clusters is None
            else "paired t interval of groups at the worst case",
            "test_set": "worst case",
            "overlap": "overlap of score intervals at the worst case",
        }[question.inference],
        kind="worst-case",
        p_value=p_value,
        baseline_interval=(kept[0][0][question.baseline], kept[1][1][question.baseline]),
        candidate_interval=(kept[0][0][question.candidate], kept[1][1][question.candidate]),
        assumptions=tuple(budget.assumptions),
        notes=misfit_notes(budget),
        details={
            "wrong_labels_at_most": int(budget.wrong),
            "worst_difference": (counts.gap - fall) / question.data.n,
            "best_difference": (counts.gap + rise) / question.data.n,
        },
    )


def reach(question: Question, budget: NoiseBudget) -> Reach:
    """Return how far the noise can move each pair against the claim that its candidate is better.

    Notes
    -----
    At most ``wrong`` labels: exchanged = min(wrong, b), granted = min(wrong, o), drop = 2 t + u as in
    :func:`worst-case`.

    If moreover at most n_jk labels k hide class j: with B_jk the number of instances labelled k, which the candidate
    predicts and where the baseline says j, and O_jk the number of those labelled k, which neither predicts and
    where the baseline says j, the drop is at most the sum over k of
    2 sum_j min(n_jk, B_jk) + min(sum_j (n_jk - B_jk)+, sum_j (B_jk - n_jk)+ + sum_j min((n_jk - B_jk)+, O_jk)).
    This is an upper bound, often exact; it takes no account of limits per true class beyond these.
    """
    counts = question.counts()
    wrong = np.full(question.n_pairs, budget.wrong, dtype=np.int64)
    exchanged, granted = np.minimum(wrong, counts.won), np.minimum(wrong, counts.neither)
    drop = 2 * exchanged + np.minimum(wrong - exchanged, counts.neither)
    if isinstance(question.noise, float | int):
        return Reach(exchanged, granted, drop, wrong)
    data = question.data
    used, positions = np.unique(np.concatenate([question.baseline, question.candidate]), return_inverse=True)
    pairs = positions[: question.n_pairs], positions[question.n_pairs :]
    exact = np.float32 if data.n < 1 << 24 else np.float64
    m = used.size
    most = np.zeros((3, m, m))
    for k in range(data.k):
        rows = np.flatnonzero(data.labels == k)
        limits = np.minimum(budget.joint[:, k], rows.size).astype(np.float64)
        limits[k] = 0
        at_most = float(min(budget.wrong_given[k], limits.sum(), rows.size))
        if at_most == 0:
            continue
        predictions = data.predictions[used][:, rows]
        right = (predictions == k).astype(exact)
        won = right.sum(axis=1, dtype=np.float64)[None, :] - right @ right.T
        swaps, spare, spare_on_others = np.zeros((m, m)), np.zeros((m, m)), np.zeros((m, m))
        others = np.zeros((m, m))
        said = np.unique(predictions)
        for j in np.flatnonzero(limits):
            if j not in said:
                spare += limits[j]
                continue
            says = (predictions == j).astype(exact)
            against = says @ right.T
            aside = says.sum(axis=1, dtype=np.float64)[:, None] - says @ says.T - against
            swaps += np.minimum(limits[j], against)
            rest = np.maximum(limits[j] - against, 0)
            spare += rest
            spare_on_others += np.minimum(rest, aside)
            others += np.minimum(limits[j], aside)
        swapped_here = np.minimum(swaps, at_most)
        most[0] += swapped_here
        most[1] += np.minimum(others, at_most)
        most[2] += np.minimum(2 * swaps + np.minimum(spare, won - swaps + spare_on_others), swapped_here + at_most)
    by_class = most[:, pairs[0], pairs[1]].astype(np.int64)
    exchanged, granted = np.minimum(exchanged, by_class[0]), np.minimum(granted, by_class[1])
    drop = np.minimum(np.minimum(drop, by_class[2]), exchanged + wrong)
    return Reach(exchanged, granted, drop, wrong)


def worst_counts(counts: PairCounts, reach: Reach) -> tuple[Counts, Counts]:
    """Return lost and won on the true labels that make the claim "candidate better" least significant.

    Of x exchanged, u granted and y others (the candidate's label, neither right), with x + u + y <= wrong and
    2 x + u + y <= drop, the p-value of McNemar's test is largest at x as small as ``drop`` allows, unless the number of
    wrong labels or of granted ones makes more of them worth it: one x for two u leaves the difference and adds
    disagreements, one x for one u or y, or for two y, lowers the candidate's share.
    """
    exchanged = np.maximum(np.maximum(reach.drop - reach.wrong, (reach.drop - reach.granted) // 2), 0)
    exchanged = np.minimum(np.minimum(exchanged, reach.exchanged), counts.won)
    left = np.maximum(np.minimum(reach.drop - 2 * exchanged, reach.wrong - exchanged), 0)
    granted = np.minimum(np.minimum(reach.granted, counts.neither), left)
    withdrawn = np.minimum(left - granted, counts.won - exchanged)
    return counts.lost + exchanged + granted, counts.won - exchanged - withdrawn


def mcnemar_p(lost: Counts, won: Counts) -> Floats:
    """One-sided exact p-value of "the candidate is not better": P(Bin(lost + won, 1/2) >= won)."""
    from scipy.stats import binom

    return np.asarray(binom.sf(won - 1, lost + won, 0.5), dtype=np.float64)


def paired_low(lost: Counts, won: Counts, n: int, tail: float) -> Floats:
    """Lower limit of the difference of two accuracies, above 0 if and only if McNemar's exact test rejects.

    The difference is d (2 s - 1): d is how often just one of the two is right, s how often that is the candidate. Exact
    limits of both at ``tail``; of d the one that lowers the product. (At a p-value of ``tail`` itself, it is 0.)
    """
    share = np.where(lost + won > 0, exact_low(won, lost + won, tail), 0.0)
    leads = share > 0.5
    often = np.where(leads, exact_low(lost + won, n, tail), 0.0)
    often[~leads] = exact_high((lost + won)[~leads], n, tail)
    return np.asarray((2 * share - 1) * often)


def _population(question: Question, counts: PairCounts, far: Reach, noise_error: float) -> tuple[Flags, Floats, Floats]:
    """Return which candidates are shown to be better, the lower limits of their lead, and p-values."""
    tail, n, groups = question.tail - noise_error, question.data.n, question.clusters
    if groups is not None:
        drops = enumerate(far.drop.tolist())
        found = [paired_test(group_counts(question, groups, pair), drop, groups, tail) for pair, drop in drops]
        low, p = (np.array(values, dtype=np.float64) for values in zip(*found, strict=True))
        return low > 0, low / n, np.minimum(p + noise_error, 1.0)
    lost, won = worst_counts(counts, far)
    p = mcnemar_p(lost, won)
    # Below an even share the trade of one exchanged for two granted turns around; no test rejects there, so say 1.
    if not isinstance(question.noise, float | int):
        p = np.where(won <= lost, 1.0, p)
    low = paired_low(lost, won, n, tail)
    # Where no claim is made, share and number of disagreements are each at their worst: the true labels of least
    # significance need not be those of the lowest limit. No labels exceed these ends, but none may reach both.
    won = counts.won - np.minimum(np.minimum(counts.won, far.wrong), far.drop)
    lost = counts.lost + np.minimum(far.exchanged + far.granted, far.wrong)
    share = np.where(lost + won > 0, exact_low(won, lost + won, tail), 0.0)
    decided = np.minimum(counts.lost + counts.won + np.minimum(far.wrong, counts.neither), n)
    floor = np.minimum(2 * share - 1, 0.0) * exact_high(decided, n, tail)
    return p <= tail, np.where(low > 0, low, floor), np.minimum(p + noise_error, 1.0)


def misfit_notes(budget: NoiseBudget) -> tuple[Note, ...]:
    """Say that the given noise contradicts the labels, if it does."""
    if not budget.out_of_domain:
        return ()
    message = "the noise contradicts the labels: of other data, or transposed (rows: true classes)? Limits are widened"
    return (Note(code="noise-misfit", message=message, subject=("noise",), severity="warning"),)


# Comparison without labels: which of two classifiers agrees more often with a third one -------------------------------


def agreement(question: Question) -> Outcomes:
    """McNemar's exact test on the instances where just one of the two agrees with the reference (Raj et al. 2011).

    If the three err independently given the instance and the reference is better than chance, the classifier that
    agrees with it more often is right more often. The difference and its interval are of the agreements: they have the
    sign of the difference of accuracies, not its size. The given labels are not used.
    """
    reference: Indices = question.reference  # type: ignore[assignment]  # demanded by the catalogue of methods
    data = question.data.relabelled(reference)
    counts = replace(question, data=data).counts()
    p, q = mcnemar_p(counts.lost, counts.won), mcnemar_p(counts.won, counts.lost)
    return Outcomes(
        candidate=p <= question.tail,
        baseline=q <= question.tail,
        difference=counts.gap / data.n,
        low=paired_low(counts.lost, counts.won, data.n, question.tail),
        high=-paired_low(counts.won, counts.lost, data.n, question.tail),
        method="exact paired interval of the agreements with a reference",
        p_value=p,
        assumptions=(
            "The two classifiers and the reference err independently of each other.",
            "The reference is right more often than chance.",
        ),
        details={"agrees_with_baseline_only": counts.lost, "agrees_with_candidate_only": counts.won},
    )
