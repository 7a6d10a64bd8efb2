"""Examples that come with demele, by name: representations, test sets with wrong labels, and answers of crowds."""

from typing import TYPE_CHECKING, overload

from demele.core.names import checked_name
from demele.data.digits import DIGITS, DemoName, digits_example
from demele.data.label_sets import CROWDS, LABEL_SETS, CrowdName, LabelSetName, crowd_example, label_example

if TYPE_CHECKING:
    from demele.data.label_sets import CrowdSet, LabelSet
    from demele.data.sample import Sample


def example_names() -> tuple[str, ...]:
    """Return the names that :func:`load_example` accepts.

    Examples
    --------
    >>> from demele.data import example_names
    >>> example_names()[:5]
    ('pca', 'ica', 'nmf', 'autoencoder', 'mmlu_redux')
    """
    return (*DIGITS, *LABEL_SETS, *CROWDS)


@overload
def load_example(name: DemoName = "autoencoder") -> "Sample": ...
@overload
def load_example(name: LabelSetName) -> "LabelSet": ...
@overload
def load_example(name: CrowdName) -> "CrowdSet": ...
@overload
def load_example(name: str) -> "Sample | LabelSet | CrowdSet": ...
def load_example(name: str = "autoencoder") -> "Sample | LabelSet | CrowdSet":
    """Return data that come with demele: a representation, a test set, or the answers of a crowd.

    Parameters
    ----------
    name : str
        - ``"autoencoder"``, ``"pca"``, ``"ica"``, ``"nmf"``: ten codes of 1,797 handwritten digits, learned without
          labels, and nine factors: the class, and measurements of :func:`digit_factors`. The codes are the bottleneck
          of a small neural network, principal components, independent components, or non-negative factors.
        - ``"mmlu_redux"``: ten language models on 5,432 questions of 57 subjects, the published answers (1.9% wrong),
          and the answers that experts corrected. 268 more questions have no single right answer and are left out. A
          reply other than the four letters is the class ``"no answer"``, always wrong.
        - ``"label_errors_cifar10"`` and six others: the published labels of a test set, one model's predictions, and
          the answers of five crowd workers on rows where an algorithm suspected an error: a selective review that
          allows no estimate of an accuracy.
        - ``"geirhos_16class_contrast"`` and seven others: 20 to 23 networks on the same distorted images of 16 classes.
          Labels are taken as true: add noise to study its effects.
        - ``"mozafari_1000"``: 5,000 answers of 83 annotators, five about each of 1,000 items of two classes; the right
          one is known of all.
        - ``"hitspam_crowdflower"``: 42,762 answers of 153 annotators about 5,380 items (and one without an answer): is
          a task that was offered to a crowd spam? The right answer is known of 101. Some annotators answered the same
          question several times: 4,169 repeats.

    Returns
    -------
    Sample, LabelSet or CrowdSet
        A representation with its factors; labels and predictions; or answers. Arrays are new at each call.

    Raises
    ------
    UnknownNameError
        For another name, with the nearest one.

    Notes
    -----
    The digits are the test part of "Optical Recognition of Handwritten Digits" (E. Alpaydin and C. Kaynak, UCI Machine
    Learning Repository, 1998, CC BY 4.0), as scikit-learn's ``load_digits`` gives them. ``DIGITS_LICENSE.md`` next to
    this module lists the derived arrays. The arrays are stored in single precision. Codes are in the units of their
    method: those of ``"nmf"`` differ fifteenfold in spread. Thirteen people wrote the digits, and who wrote which is
    not known, so the rows are not quite independent. Some factors depend on each other: the correlation is -0.78
    between length and thickness, -0.72 between slant and centre_y, 0.70 between length and width, and at most 0.57 in
    size elsewhere.

    Sources of test sets: Gema et al. 2024; Northcutt, Athalye and Mueller 2021; Geirhos et al. 2018. Source of crowds:
    P. G. Ipeirotis, F. Provost and J. Wang, *Quality management on Amazon Mechanical Turk* (2010).

    Examples
    --------
    >>> from demele.data import load_example
    >>> sample = load_example("pca")
    >>> sample.codes.shape, list(sample.factors)[:4]
    ((1797, 10), ['class', 'area', 'slant', 'width'])
    >>> questions = load_example("mmlu_redux")
    >>> questions
    LabelSet(mmlu_redux: 5432 rows, 10 models, 5 classes, 1.86% of labels wrong)
    >>> questions.of_group("virology")
    LabelSet(mmlu_redux: 76 rows, 10 models, 5 classes, 43.42% of labels wrong)
    >>> load_example("label_errors_mnist")
    LabelSet(label_errors_mnist: 10000 rows, 1 model, 10 classes, 82 rows reviewed (selective))
    >>> load_example("mozafari_1000").to_frame().head(2)
       item  annotator answer
    0     0          2      0
    1     0         34      0
    """
    checked_name(name, "name", example_names())
    if name in DIGITS:
        return digits_example(name)
    return label_example(name) if name in LABEL_SETS else crowd_example(name)
