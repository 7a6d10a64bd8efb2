"""Characterisations that were kept: those that you saved, and that of demele's own metrics."""

from pathlib import Path

from demele.bench.characterisation import Characterisation
from demele.bench.packed import unpacked
from demele.bench.reference_rows import FOLDER, referred
from demele.core.errors import InputError
from demele.core.names import renamed
from demele.core.reading import path_of, read_whole, unpacking_at_most
from demele.metrics.catalogue import metric_names, names_of_all

__all__ = ["load", "reference"]


@renamed(max_bytes="max_size")
def load(path: str | Path, *, max_size: int | None = None) -> Characterisation:
    """Read a file of :meth:`Characterisation.save`.

    Parameters
    ----------
    path : str or Path
        The file.
    max_size : int, optional
        Most bytes that it may take once it is unpacked; by default its own size and 512 MiB.

    Returns
    -------
    Characterisation
        Functions of your own are there by name; they cannot be called.

    Raises
    ------
    InputError
        If the file cannot be read.
    FormatError
        If it is something else, or takes more.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from demele import bench
    >>> found = bench.characterise(["mig"], ["mixing"], seeds=2, n_samples=200)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = bench.load(found.save(Path(folder) / "mig.json.gz"))
    >>> again.curve_frame().equals(found.curve_frame())
    True
    """
    with unpacking_at_most(max_size):
        try:
            content = read_whole(path_of(path))
        except OSError as error:
            raise InputError("path", f"cannot read {path}: {error.strerror or error}") from error
        return unpacked(content, str(path), Characterisation)


def reference() -> Characterisation:
    """Return the stored characterisation of demele's metrics, for comparison with your own metric.

    Returns
    -------
    Characterisation
        Of all registered metrics, the newer ones where their rows are stored, under the protocol "review2022", with
        20 000 rows; some that take seconds a call have fewer seeds, of 5000 rows: those of ``fewer_rows``. A metric of
        which no rows are stored is there without values: its verdicts are "not yet characterised".

    Raises
    ------
    FileNotFoundError
        If demele was installed without any stored rows.

    Examples
    --------
    >>> from demele import bench
    >>> bench.reference().verdict("modularity", "calibrated").status
    'fails'
    """
    if not any(FOLDER.glob("*.jsonl")):
        raise FileNotFoundError(f"no rows of metrics are stored in {FOLDER}")
    usual = names_of_all()
    names = [name for name in metric_names() if name in usual or (FOLDER / f"{name}.jsonl").exists()]
    return referred(Characterisation, names, FOLDER)
