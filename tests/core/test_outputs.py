"""Files that are written whole: through links, over files of others, onto a full disk, into pipes, against a race."""

import errno
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import demele
from demele.core.outputs import expect_new, new_files, why_not_writable, write_whole, writing_whole
from tests.refusals import refuses


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def as_a_user(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let permissions count, though the tests may run as root."""

    def access(path: str | Path, mode: int) -> bool:
        return bool(os.stat(path).st_mode & (0o222 if mode == os.W_OK else 0o444))

    monkeypatch.setattr(os, "access", access)
    monkeypatch.setattr(os, "geteuid", lambda: 12345)


def test_permissions_are_those_of_the_umask_or_of_the_old_file(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        write_whole(tmp_path / "new", b"1")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640
    (tmp_path / "new").chmod(0o604)
    write_whole(tmp_path / "new", b"2")
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o604


@pytest.mark.parametrize("there", [True, False])
def test_a_link_stays_and_its_file_is_replaced(tmp_path: Path, there: bool) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "out").mkdir()
    file, first, second = tmp_path / "kept" / "real.csv", tmp_path / "out" / "first", tmp_path / "out" / "second"
    if there:
        file.write_text("old")
    second.symlink_to("../kept/real.csv")
    first.symlink_to("second")
    write_whole(first, "new")
    assert first.is_symlink()
    assert second.is_symlink()
    assert file.read_text() == "new"
    assert names(tmp_path / "kept") == ["real.csv"]
    assert names(tmp_path / "out") == ["first", "second"]


def test_a_loop_of_links_a_folder_and_a_null_byte_are_told(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to("loop")
    for path, reason in [
        (loop, os.strerror(errno.ELOOP)),
        (tmp_path, os.strerror(errno.EISDIR)),
        (tmp_path / "none" / "x", os.strerror(errno.ENOENT)),
        (tmp_path / ("x" * 300), os.strerror(errno.ENAMETOOLONG)),
    ]:
        with pytest.raises(demele.errors.OutputError) as caught:
            write_whole(path, b"")
        assert str(caught.value) == f"cannot write {path}: {reason}"
    refuses(demele.errors.OutputError, "null", write_whole, f"{tmp_path}/a\0b", b"")
    refuses(demele.errors.OutputError, r"'\\ud800' cannot be encoded as UTF-8", write_whole, tmp_path / "x", "a\ud800")
    assert names(tmp_path) == ["loop"]


def test_the_error_is_of_both_kinds_and_keeps_the_number(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="cannot write") as caught:
        write_whole(tmp_path, b"")
    assert caught.value.errno == errno.EISDIR
    assert isinstance(caught.value, demele.errors.InputError)


@pytest.mark.parametrize("call", ["fsync", "replace", "fdopen"])
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_what_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, error: BaseException
) -> None:
    path = tmp_path / "out.json"
    path.write_bytes(b"old")
    real = getattr(os, call)

    def fails(*arguments: object, **_: object) -> None:
        if call == "fdopen":
            os.close(arguments[0])  # type: ignore[arg-type]
        raise error

    monkeypatch.setattr(os, call, fails)
    expected = "cannot write .*No space left on device; the file that was there is untouched"
    if isinstance(error, OSError):
        refuses(demele.errors.OutputError, expected, write_whole, path, b"new")
    else:
        with pytest.raises(KeyboardInterrupt):
            write_whole(path, b"new")
    monkeypatch.setattr(os, call, real)
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["out.json"]


def test_a_file_made_meanwhile_is_kept_and_so_is_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "out"
    write_whole(path, b"first", replace=False)
    assert names(tmp_path) == ["out"]
    with pytest.raises(demele.errors.OutputError, match=r"made meanwhile; it is untouched.*\.out\.tmp-[0-9a-f]{8}$"):
        write_whole(path, b"second", replace=False)
    assert path.read_bytes() == b"first"
    beside, _ = names(tmp_path)
    assert (tmp_path / beside).read_bytes() == b"second"


def test_a_command_replaces_only_what_it_was_told_to(tmp_path: Path) -> None:
    (tmp_path / "pictures").mkdir()
    with new_files():
        for name in ("out", "pictures"):
            expect_new(tmp_path / name)
        (tmp_path / "out").write_bytes(b"theirs")
        (tmp_path / "pictures" / "a.png").write_bytes(b"theirs")
        for name in ("out", "pictures/a.png"):
            refuses(demele.errors.OutputError, "made meanwhile", write_whole, tmp_path / name, b"ours")
            assert (tmp_path / name).read_bytes() == b"theirs"
        write_whole(tmp_path / "other", b"1")
        write_whole(tmp_path / "other", b"2")
    write_whole(tmp_path / "out", b"ours")
    expect_new(tmp_path / "out")  # outside of a command it says nothing
    write_whole(tmp_path / "out", b"ours again")


def test_what_cannot_be_written_is_told_before(tmp_path: Path, as_a_user: None) -> None:
    path = tmp_path / "file"
    assert why_not_writable(path) is None
    path.write_bytes(b"old")
    assert why_not_writable(path) is None
    path.chmod(0o444)
    assert why_not_writable(path) == "no permission to write there"
    refuses(demele.errors.OutputError, r"Permission denied; the file that was there is", write_whole, path, b"new")
    path.chmod(0o644)
    tmp_path.chmod(0o555)
    assert why_not_writable(path) == f"no permission to write in its folder {tmp_path}"
    tmp_path.chmod(0o1777)
    assert why_not_writable(path) == f"it is another user's file, which cannot be replaced in {tmp_path}"
    tmp_path.chmod(0o755)
    assert "there is no folder" in str(why_not_writable(tmp_path / "none" / "x"))
    assert path.read_bytes() == b"old"


def test_pipes_and_devices_are_written_to_as_they_are(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert why_not_writable(pipe) is None
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    write_whole(pipe, b"through")
    reader.join(timeout=30)
    assert read == [b"through"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    write_whole("/dev/null", b"gone")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    assert names(tmp_path) == ["pipe"]


def test_streams_of_the_process_are_written_to_as_they_are(tmp_path: Path) -> None:
    program = "from demele.core.outputs import write_whole\nwrite_whole('/dev/stdout', b'said\\n')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout == b"said\n"
    path = tmp_path / "file"
    with path.open("wb") as file:
        subprocess.run([sys.executable, "-c", program], stdout=file, check=True)
        same = os.fstat(file.fileno()).st_ino == path.stat().st_ino
    assert same
    assert path.read_bytes() == b"said\n"
    assert names(tmp_path) == ["file"]


# In pieces ------------------------------------------------------------------------------------------------------------


def test_pieces_are_written_anywhere(tmp_path: Path) -> None:
    path = tmp_path / "images.npy"
    path.write_bytes(b"old")
    with writing_whole(path) as whole:
        whole.write(b"45", at=4)
        whole.write(memoryview(b"67"))
        whole.write(b"0123", at=0)
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"01234567"
    assert names(tmp_path) == ["images.npy"]


@pytest.mark.parametrize(
    "error", [OSError(errno.EIO, "of a file that is read"), KeyboardInterrupt(), ZeroDivisionError()]
)
def test_an_exception_between_pieces_leaves_the_old_file_and_is_not_renamed(
    tmp_path: Path, error: BaseException
) -> None:
    path = tmp_path / "images.npy"
    path.write_bytes(b"old")

    def written() -> None:
        with writing_whole(path) as whole:
            whole.write(b"new")
            raise error

    with pytest.raises(type(error)) as caught:
        written()
    assert caught.value is error
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["images.npy"]


def test_pieces_that_do_not_fit_on_the_disk(tmp_path: Path) -> None:
    path = tmp_path / "big"
    path.write_bytes(b"old")
    program = (
        "import resource, signal, sys\n"
        "from demele.core.errors import OutputError\n"
        "from demele.core.outputs import writing_whole\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "try:\n"
        "    with writing_whole(sys.argv[1]) as whole:\n"
        "        for _ in range(100):\n"
        "            whole.write(b'new' * 1000)\n"
        "except OutputError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout == f"cannot write {path}: File too large; the file that was there is untouched\n"
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["big"]


def test_pieces_do_not_go_to_a_pipe_a_folder_or_over_a_file_that_was_made_meanwhile(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(demele.errors.OutputError, match="it is no file"), writing_whole(tmp_path / "pipe"):
        pass
    with pytest.raises(demele.errors.OutputError, match="Is a directory"), writing_whole(tmp_path):
        pass
    path = tmp_path / "images.npy"

    def overtaken() -> None:
        with writing_whole(path, replace=False) as whole:
            whole.write(b"new")
            path.write_bytes(b"theirs")

    with pytest.raises(
        demele.errors.OutputError, match="made meanwhile; it is untouched, and the new content"
    ) as caught:
        overtaken()
    assert path.read_bytes() == b"theirs"
    assert Path(str(caught.value).rpartition(" ")[2]).read_bytes() == b"new"


def test_without_hard_links_nothing_is_replaced_either(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refused)
    write_whole(tmp_path / "out", b"first", replace=False)
    refuses(demele.errors.OutputError, "made meanwhile", write_whole, tmp_path / "out", b"second", replace=False)
    assert (tmp_path / "out").read_bytes() == b"first"
