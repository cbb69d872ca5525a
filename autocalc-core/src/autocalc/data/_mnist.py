# SPDX-License-Identifier: MIT
"""The data sets MNIST and Fashion-MNIST, read from their published files."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

from autocalc._tensor.checks import check_flags
from autocalc.data._download import RemoteFile, download, folders_of, sha256_of
from autocalc.data._idx import read_idx
from autocalc.data._images import ImageDataset
from autocalc.errors import DataError


class MNIST(ImageDataset):
    """The MNIST data set: 70,000 handwritten digits of 28 x 28 pixels.

    Parameters
    ----------
    root : str or path, optional
        The folder with the files ``train-images-idx3-ubyte.gz`` and so on.  It can also
        be a folder that contains them in ``mnist/`` or ``MNIST/raw/``.  By default
        ``AUTOCALC_DATA_DIR`` is searched first, then the user's cache folder.
    train : bool, default True
        True for the 60,000 training images, False for the 10,000 test images.
    transform, target_transform : callable, optional
        Functions that are applied to each image and to each label.  Transforms of
        `data.transforms` are applied to a whole batch at once.
    download : bool, default False
        True to download missing files and to check their SHA-256.  If False, nothing is
        downloaded.

    Notes
    -----
    The authors are Yann LeCun, Corinna Cortes and Christopher J. C. Burges; the digits
    come from NIST Special Databases 1 and 3.  The training pixels, scaled to [0, 1],
    have the mean 0.1307 and the standard deviation 0.3081.

    Raises
    ------
    DataError
        If files are missing or damaged, or if the download fails.

    Examples
    --------
    >>> import autocalc as ac
    >>> digits = ac.data.MNIST("data", download=True)  # doctest: +SKIP
    >>> image, label = digits[0]  # doctest: +SKIP
    >>> len(ac.data.MNIST.classes), ac.data.MNIST.classes[7]
    (10, '7')
    """

    name: ClassVar[str] = "mnist"
    classes = tuple("0123456789")
    #: Folders with the files, tried in this order.
    mirrors: ClassVar[Sequence[str]] = (
        "https://ossci-datasets.s3.amazonaws.com/mnist",
        "https://storage.googleapis.com/cvdf-datasets/mnist",
    )
    #: Images and labels for training, then for testing.
    files: ClassVar[tuple[RemoteFile, RemoteFile, RemoteFile, RemoteFile]] = (
        RemoteFile(
            "train-images-idx3-ubyte.gz",
            9912422,
            "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
        ),
        RemoteFile(
            "train-labels-idx1-ubyte.gz",
            28881,
            "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
        ),
        RemoteFile(
            "t10k-images-idx3-ubyte.gz",
            1648877,
            "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
        ),
        RemoteFile(
            "t10k-labels-idx1-ubyte.gz",
            4542,
            "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
        ),
    )

    def __init__(
        self,
        root: str | os.PathLike[str] | None = None,
        train: bool = True,
        transform: Callable[[Any], Any] | None = None,
        target_transform: Callable[[Any], Any] | None = None,
        download: bool = False,
    ) -> None:
        check_flags("MNIST", train=train, download=download)
        self.train = train
        wanted = self.files[:2] if train else self.files[2:]
        images, labels = self._find(wanted, root, download)
        self._check_not_another(labels)
        super().__init__(
            read_idx(images), read_idx(labels), transform, target_transform
        )

    @classmethod
    def _find(
        cls,
        wanted: Sequence[RemoteFile],
        root: str | os.PathLike[str] | None,
        may_download: bool,
    ) -> list[Path]:
        """Return the paths of the wanted files; download missing ones if asked to."""
        folders = cls._folders(root)
        for folder in folders:
            paths = [_present(folder, file.name) for file in wanted]
            found = [path for path in paths if path is not None]
            if len(found) == len(wanted):
                return found
        if not may_download:
            raise cls._missing(wanted, folders)
        target = folders[0]
        return [
            _present(target, file.name) or download(file, cls.mirrors, target)
            for file in wanted
        ]

    @classmethod
    def _folders(cls, root: str | os.PathLike[str] | None) -> list[Path]:
        """Return the folders to search; a download goes to the first."""
        if root is not None:
            above = Path(root).expanduser()
            return [above / cls.name, above / cls.__name__ / "raw", above]
        return folders_of(cls.name)

    @classmethod
    def _missing(cls, wanted: Sequence[RemoteFile], folders: list[Path]) -> DataError:
        names = " and ".join(file.name for file in wanted)
        looked = ", ".join(str(folder) for folder in folders)
        message = (
            f"{cls.__name__}: {names} not found; looked in {looked}. Pass "
            "`download=True` to download them, or `root=` (or set AUTOCALC_DATA_DIR) "
            "with the folder that has them."
        )
        return DataError(message)

    @classmethod
    def _check_not_another(cls, labels: Path) -> None:
        """Raise for files of another data set that have the same names and shapes."""
        digest = sha256_of(labels)
        for other in (MNIST, FashionMNIST):
            theirs = {file.sha256 for file in other.files}
            if digest in theirs and other.name != cls.name:
                raise DataError(
                    f"{cls.__name__}: {labels} belongs to {other.__name__}; pass the "
                    f"folder of {cls.__name__} as `root`."
                )


class FashionMNIST(MNIST):
    """The Fashion-MNIST data set: 70,000 images of clothes in the format of `MNIST`.

    The parameters are those of `MNIST`.  The files are searched in ``fashion-mnist/``.

    Notes
    -----
    The authors are Han Xiao, Kashif Rasul and Roland Vollgraf (Zalando SE); the licence
    is MIT. The training pixels, scaled to [0, 1], have the mean 0.2860 and the standard
    deviation 0.3530.

    Examples
    --------
    >>> import autocalc as ac
    >>> clothes = ac.data.FashionMNIST("data", download=True)  # doctest: +SKIP
    >>> image, label = clothes[0]  # doctest: +SKIP
    >>> ac.data.FashionMNIST.classes[9]
    'Ankle boot'
    """

    name = "fashion-mnist"
    classes = (
        "T-shirt/top",
        "Trouser",
        "Pullover",
        "Dress",
        "Coat",
        "Sandal",
        "Shirt",
        "Sneaker",
        "Bag",
        "Ankle boot",
    )
    mirrors = (
        "https://storage.googleapis.com/tensorflow/tf-keras-datasets",
        "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion",
        "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com",
    )
    files = (
        RemoteFile(
            "train-images-idx3-ubyte.gz",
            26421880,
            "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
        ),
        RemoteFile(
            "train-labels-idx1-ubyte.gz",
            29515,
            "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
        ),
        RemoteFile(
            "t10k-images-idx3-ubyte.gz",
            4422102,
            "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
        ),
        RemoteFile(
            "t10k-labels-idx1-ubyte.gz",
            5148,
            "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
        ),
    )


def _present(folder: Path, name: str) -> Path | None:
    """Return the compressed or unpacked file in `folder`; None without either."""
    for path in (folder / name, folder / name.removesuffix(".gz")):
        if path.is_file():
            return path
    return None
