"""A study as text in few lines: what it is, then one line for each model."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from demele.core.store import Key
from demele.runtime.sweep import Record
from demele.studies.jobs import Configuration, scored_places
from demele.studies.trained import TrainedModel

__all__ = ["FORMAT", "FORMAT_VERSION", "header", "packed"]

FORMAT, FORMAT_VERSION = "demele-study", 1


def header(settings: Mapping[str, Any], configurations: Mapping[str, Configuration], version: str) -> dict[str, Any]:
    """Return what a study is, as plain values."""
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "demele": version,
        "settings": dict(settings),
        "configurations": [{"id": name, **one.to_dict()} for name, one in configurations.items()],
    }


def packed(
    settings: Mapping[str, Any], models: Sequence[TrainedModel], scores: Mapping[Key, Record], version: str
) -> str:
    """Return a study as text: scores with their reasons, without native values, notes and signatures."""
    lines: list[Mapping[str, Any]] = [header(settings, {model.id: model.configuration for model in models}, version)]
    metrics: list[str] = settings["metrics"]
    for model in models:
        values: dict[str, list[float | None]] = {}
        reasons: dict[str, str] = {}
        for step, kind in scored_places(settings["steps"], settings["kinds"]):
            records = [scores.get((model.id, step, kind, metric)) for metric in metrics]
            if all(record is None for record in records):
                continue
            values[f"{step} {kind}"] = [None if record is None else record.get("value") for record in records]
            for metric, record in zip(metrics, records, strict=True):
                if record is not None and record.get("value") is None:
                    reasons[f"{step} {kind} {metric}"] = str(record.get("reason") or "")
        lines.append({"id": model.id, "train": model.record(), "scores": values, "reasons": reasons})
    return "".join(json.dumps(line, separators=(",", ":"), allow_nan=False) + "\n" for line in lines)
