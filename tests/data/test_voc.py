"""PASCAL VOC: the rule for one class by hand, pictures of unlike sizes, and what is refused."""

import pickle
from pathlib import Path

import numpy as np
import pytest

from demele.core.errors import FormatError, InputError
from demele.data import load
from demele.data.loaders.class_sets import class_of_picture
from tests.data import published_files as files
from tests.refusals import refuses
from tests.tolerances import assert_exact

pytest.importorskip("PIL", reason="pictures need Pillow: pip install 'demele[images]'")


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        ([("dog", 3.0), ("dog", 2.9)], "dog"),
        ([("dog", 8.0), ("cat", 4.0), ("cat", 4.0)], "dog"),
        ([("dog", 8.0), ("cat", 4.1)], None),
        ([("dog", 8.0), ("dog", 7.0), ("cat", 1.0)], None),  # the second largest is a dog, too: as written
        ([("cat", 1.0)], "cat"),
        ([], None),
    ],
)
def test_a_picture_has_one_class_or_none(objects: list[tuple[str, float]], expected: str | None) -> None:
    assert class_of_picture(objects) == expected


def test_pictures_of_one_class_are_kept_and_made_square(tmp_path: Path) -> None:
    made = files.write_voc(tmp_path)
    images = load("voc2012", tmp_path)
    assert images.factors()["class"].tolist() == ["dog", "bird", "person"]
    assert images.positions()[:, 0].tolist() == [11, 2, 14]
    assert_exact(images.images(range(3)), made.images)
    assert load("voc2012", tmp_path / "VOCdevkit" / "VOC2012", pixels=32).shape == (32, 32, 3)
    sent = pickle.loads(pickle.dumps(images))
    assert_exact(sent.images([2]), made.images[2:])


def test_what_is_no_copy_is_refused(tmp_path: Path) -> None:
    root = tmp_path / "VOCdevkit" / "VOC2012"
    refuses(InputError, "PASCAL VOC 2012 is published by", load, "voc2012", tmp_path)
    files.write_voc(tmp_path)
    refuses(InputError, r"val\.txt", load, "voc2012", tmp_path, split="val")
    annotation = root / "Annotations" / "2008_000004.xml"
    whole = annotation.read_text()
    annotation.write_text(whole.replace("person", "unicorn"))
    refuses(FormatError, "20 classes of PASCAL VOC, found 'unicorn'", load, "voc2012", tmp_path)
    annotation.write_text(whole[:-5])
    refuses(FormatError, "not an annotation that can be read", load, "voc2012", tmp_path)
    annotation.write_text("<!DOCTYPE a [<!ENTITY b 'c'>]>" + whole)
    refuses(FormatError, "XML without declarations", load, "voc2012", tmp_path)
    annotation.write_text(whole.replace("<xmin>2<", "<xmin>nan<"))
    refuses(FormatError, "annotation", load, "voc2012", tmp_path)
    annotation.write_text(whole)
    (root / "ImageSets" / "Main" / "trainval.txt").write_text("../../secret\n")
    refuses(FormatError, "expected names such as 2007_000027", load, "voc2012", tmp_path)
    files.write_voc(tmp_path)
    picture = root / "JPEGImages" / "2008_000004.jpg"
    picture.write_bytes(picture.read_bytes()[:100])
    refuses(FormatError, "not a picture that can be read", load("voc2012", tmp_path).images, np.array([2]))
    picture.unlink()
    refuses(InputError, r"there is no .*2008_000004\.jpg", load, "voc2012", tmp_path)
