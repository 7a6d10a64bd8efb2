"""Whether files are byte for byte those that were published."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from demele.core.errors import FormatError, InputError, RepackedFileWarning, warn_user
from demele.core.sentences import in_code
from demele.data.loaders.published import PublishedFile, Request
from demele.runtime.progress import Report

_BLOCK = 1 << 22
_WITHOUT = in_code("leave check= at 'shape'", otherwise="leave out --digest")


def published_as(request: Request, path: Path) -> tuple[PublishedFile, ...]:
    """Return the published files that one may be: of its name; else of its ending and variant."""
    known = request.published.files
    named = tuple(one for one in known if one.name == path.name)
    if named or len(path.suffixes) > 1:
        return named
    variant = request.variant or ""
    return tuple(one for one in known if Path(one.name).suffix == path.suffix and variant in one.name)


def check_sizes(request: Request, files: Sequence[Path]) -> None:
    """Warn of files that fit, but have another size than the published ones: somebody packed them anew."""
    for path in files:
        sizes = {one.size for one in published_as(request, path) if one.size is not None}
        if sizes and path.stat().st_size not in sizes:
            (expected, *_) = sizes
            found = f"{path.stat().st_size:,} bytes"
            request.note(path, found, f"{expected:,} bytes", "not published")
            warn_user(
                f"{path}: {found}, where the published file has {expected:,}: it is a copy that somebody made. Names, "
                "types and shapes of its arrays fit; whether they hold the published images is not known",
                RepackedFileWarning,
            )
        elif sizes:
            request.note(path, f"{path.stat().st_size:,} bytes", f"{path.stat().st_size:,} bytes", "fits")


def check_digests(request: Request, files: Sequence[Path], report: Report | None) -> None:
    """Compare the digests of files with the published ones.

    Raises
    ------
    InputError
        If none is known of any.
    FormatError
        If one differs.
    """
    known = [(path, found) for path in files if (found := published_as(request, path))]
    if not known:
        raise InputError("check", f"no digest of these files of {request.published.title} is known", _WITHOUT)
    total = sum(path.stat().st_size for path, _ in known)
    done = 0
    for path, candidates in known:
        kinds = {kind for one in candidates for kind in ("sha256", "md5") if getattr(one, kind)}
        kind = "sha256" if "sha256" in kinds else "md5"
        digests = [getattr(one, kind) for one in candidates if getattr(one, kind)]
        own = _digest(path, kind, done, total, report)
        done += path.stat().st_size
        fits = own in digests
        request.note(path, f"{kind} {own}", f"{kind} {own if fits else digests[0]}", "fits" if fits else "differs")
        if not fits:
            raise FormatError(
                path,
                f"expected {kind} {' or '.join(digests)}, found {own}",
                f"it is not the published file: copy it again, or {_WITHOUT}",
            )


def _digest(path: Path, kind: str, before: int, total: int, report: Report | None) -> str:
    found = hashlib.new(kind, usedforsecurity=False)
    read = 0
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            found.update(block)
            read += len(block)
            if report is not None:
                report(before + read, total, f"bytes of {path.name}")
    return found.hexdigest()
