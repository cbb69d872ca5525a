# SPDX-License-Identifier: MIT
"""CIFAR-10 from its binary version, which contains no pickles."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from autocalc._tensor.checks import check_flags
from autocalc.data._arrays import Array
from autocalc.data._download import RemoteFile, download, folders_of, sha256_of
from autocalc.data._images import ImageDataset
from autocalc.errors import DataError

_SHAPE = (3, 32, 32)
_RECORD = 1 + 3 * 32 * 32  # a label, then the red, the green and the blue pixels


class CIFAR10(ImageDataset):
    """The CIFAR-10 data set: 60,000 colour images of 32 x 32 pixels in ten classes.

    Parameters
    ----------
    root : str or path, optional
        The folder with the files ``data_batch_1.bin`` and so on.  It can also be a
        folder that contains them in ``cifar-10-batches-bin/``, or the archive
        ``cifar-10-binary.tar.gz``.  By default the folder ``cifar-10/`` is searched,
        first in ``AUTOCALC_DATA_DIR``, then in the user's cache folder.
    train : bool, default True
        True for the 50,000 training images, False for the 10,000 test images.
    transform, target_transform : callable, optional
        Functions that are applied to each image and to each label.  Transforms of
        `data.transforms` are applied to a whole batch at once.
    download : bool, default False
        True to download the archive (170 MB) if files are missing, to check its SHA-256
        and to unpack it.  If False, nothing is downloaded.

    Notes
    -----
    The authors are Alex Krizhevsky, Vinod Nair and Geoffrey Hinton.  The three channels
    of the training images have the means 0.4914, 0.4822 and 0.4465, and the standard
    deviations 0.2470, 0.2435 and 0.2616.

    Raises
    ------
    DataError
        If files are missing or damaged, or if the download fails.

    Examples
    --------
    >>> import autocalc as ac
    >>> pictures = ac.data.CIFAR10("data", download=True)  # doctest: +SKIP
    >>> image, label = pictures[0]  # doctest: +SKIP
    >>> ac.data.CIFAR10.classes[3]
    'cat'
    """

    name: ClassVar[str] = "cifar-10"
    classes = (
        "airplane",
        "automobile",
        "bird",
        "cat",
        "deer",
        "dog",
        "frog",
        "horse",
        "ship",
        "truck",
    )
    mirrors: ClassVar[Sequence[str]] = ("https://www.cs.toronto.edu/~kriz",)
    archive: ClassVar[RemoteFile] = RemoteFile(
        "cifar-10-binary.tar.gz",
        170052171,
        "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
    )
    #: The folder in the archive.
    folder: ClassVar[str] = "cifar-10-batches-bin"
    train_files: ClassVar[Sequence[str]] = tuple(
        f"data_batch_{number}.bin" for number in range(1, 6)
    )
    test_files: ClassVar[Sequence[str]] = ("test_batch.bin",)

    def __init__(
        self,
        root: str | os.PathLike[str] | None = None,
        train: bool = True,
        transform: Callable[[Any], Any] | None = None,
        target_transform: Callable[[Any], Any] | None = None,
        download: bool = False,
    ) -> None:
        check_flags("CIFAR10", train=train, download=download)
        self.train = train
        wanted = self.train_files if train else self.test_files
        found = self._find(wanted, root, download)
        records = np.concatenate([_read(path) for path in found])
        images = records[:, 1:].reshape(-1, *_SHAPE)
        super().__init__(
            np.ascontiguousarray(images), records[:, 0], transform, target_transform
        )

    @classmethod
    def _find(
        cls,
        wanted: Sequence[str],
        root: str | os.PathLike[str] | None,
        may_download: bool,
    ) -> list[Path]:
        """Return the wanted files; unpack or download the archive if necessary."""
        above = folders_of(cls.name) if root is None else [Path(root).expanduser()]
        for folder in above:
            for place in (folder, folder / cls.folder):
                paths = [place / name for name in wanted]
                if all(path.is_file() for path in paths):
                    return paths
        archives = [folder / cls.archive.name for folder in above]
        archive = next((path for path in archives if path.is_file()), None)
        if archive is not None:
            cls._check_archive(archive)
        elif may_download:
            archive = download(cls.archive, cls.mirrors, above[0])
        else:
            raise cls._missing(wanted, above)
        return cls._unpack(archive, wanted)

    @classmethod
    def _check_archive(cls, archive: Path) -> None:
        digest = sha256_of(archive)
        if digest == cls.archive.sha256:
            return
        raise DataError(
            f"{cls.__name__}: {archive} is not the published file: its SHA-256 digest "
            f"is {digest}, but that of the published file is {cls.archive.sha256}. "
            "Remove it and download it again."
        )

    @classmethod
    def _unpack(cls, archive: Path, wanted: Sequence[str]) -> list[Path]:
        """Write all images of the archive next to it; return the wanted files."""
        import tarfile  # takes 10 ms to import, with its libraries

        target = archive.parent / cls.folder
        try:
            target.mkdir(exist_ok=True)
            with tarfile.open(archive, "r:gz") as files:
                for name in (*cls.train_files, *cls.test_files):
                    _extract(files, f"{cls.folder}/{name}", target / name)
        except (OSError, tarfile.TarError, KeyError) as error:
            message = f"{cls.__name__}: {archive} cannot be unpacked ({error})."
            raise DataError(message) from error
        return [target / name for name in wanted]

    @classmethod
    def _missing(cls, wanted: Sequence[str], folders: list[Path]) -> DataError:
        looked = ", ".join(str(folder) for folder in folders)
        message = (
            f"{cls.__name__}: neither "
            f"{wanted[0]}{' to' if wanted[1:] else ''}"
            f"{' ' + wanted[-1] if wanted[1:] else ''} nor {cls.archive.name} "
            f"found; looked in {looked}, and in {cls.folder} below. Pass "
            "`download=True` to download it; or give its folder as "
            "`root=`, or in AUTOCALC_DATA_DIR."
        )
        return DataError(message)


def _extract(files: Any, name: str, target: Path) -> None:
    """Write one member of a tar file to `target` after reading all of it."""
    member = files.extractfile(name)
    if member is None:
        raise KeyError(f"{name} is not a file")
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    part.write_bytes(member.read())
    part.replace(target)


def _read(path: Path) -> Array:
    """Return the records of a file: uint8, (images, 3073)."""
    content = np.fromfile(path, np.uint8)
    if content.size == 0 or content.size % _RECORD:
        raise DataError(
            f"CIFAR10: {path} has {content.size} bytes; the size must be a multiple of "
            f"{_RECORD}, the number of bytes of one image with its label. Download the "
            "file again."
        )
    return content.reshape(-1, _RECORD)
