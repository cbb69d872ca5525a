# SPDX-License-Identifier: MIT
"""`SummaryWriter`: numbers over time, in files that TensorBoard opens."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Mapping
from datetime import datetime
from itertools import count
from pathlib import Path
from time import monotonic, time
from types import TracebackType
from typing import IO, Any

from autocalc._tensor.checks import as_int, number, short
from autocalc.errors import ArgumentError, DTypeError
from autocalc.utils.tensorboard import _events as events
from autocalc.utils.tensorboard._histogram import histogram_of
from autocalc.utils.tensorboard._records import framed
from autocalc.utils.tensorboard._shown import Shown, text_of

#: Numbers the files of this process, so that two files of one second differ in name.
_files = count()


class SummaryWriter(Shown):
    """Writes scalars, histograms, images and texts into a folder for TensorBoard.

    The events are written to one file.  Neither TensorBoard nor TensorFlow has to be
    installed for this.  ``tensorboard --logdir runs`` shows the folder, also during the
    training.

    Parameters
    ----------
    log_dir : str or path, optional
        The folder, which is created if it is missing.  The default is
        ``runs/DATE_TIME_HOST`` followed by `comment`.  With one folder for each run,
        TensorBoard can compare the runs.
    comment : str
        A text that is appended to the default `log_dir`.  It has no effect if `log_dir`
        is given.
    purge_step : int, optional
        The step at which an interrupted training continues.  TensorBoard then ignores
        all earlier events of this step and of later steps.
    max_queue : int
        The largest number of events that are kept in memory before they are written.
    flush_secs : float
        The time in seconds after which events are written.  The time is only checked
        when another event follows.
    filename_suffix : str
        A text that is appended to the name of the file.

    Raises
    ------
    ArgumentError
        If `max_queue` is less than 1, or if `flush_secs` is negative.
    DTypeError
        If an argument has a wrong type.
    OSError
        If the folder or the file cannot be created.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from autocalc.utils.tensorboard import SummaryWriter
    >>> folder = tempfile.mkdtemp()
    >>> with SummaryWriter(folder) as writer:
    ...     for step in range(3):
    ...         writer.add_scalar("loss", 1 / (step + 1), step)
    >>> [path.name.split(".")[2] for path in Path(folder).iterdir()]
    ['tfevents']
    """

    def __init__(
        self,
        log_dir: Any = None,
        comment: str = "",
        purge_step: int | None = None,
        max_queue: int = 10,
        flush_secs: float = 120,
        filename_suffix: str = "",
    ) -> None:
        if log_dir is not None and not isinstance(log_dir, (str, os.PathLike)):
            raise DTypeError(
                f"SummaryWriter: `log_dir` is {short(log_dir)}; it must be a path."
            )
        self._max_queue = as_int("SummaryWriter", "max_queue", max_queue)
        self._flush_secs = number("SummaryWriter", "flush_secs", flush_secs)
        if self._max_queue < 1 or not self._flush_secs >= 0:
            raise ArgumentError(
                f"SummaryWriter: `max_queue`={max_queue}, `flush_secs`={flush_secs}; "
                "`max_queue` must be 1 or more, and `flush_secs` 0 or more."
            )
        if purge_step is not None:
            purge_step = as_int("SummaryWriter", "purge_step", purge_step)
        self._suffix = text_of("SummaryWriter", "filename_suffix", filename_suffix)
        comment = text_of("SummaryWriter", "comment", comment)
        self._folder = _default(comment) if log_dir is None else Path(log_dir)
        self._others: dict[str, SummaryWriter] = {}
        self._file: IO[bytes] | None = None
        self._waiting, self._flushed = 0, monotonic()
        self._open()
        if purge_step is not None:
            self._write(events.session_start(), purge_step, None)

    @property
    def log_dir(self) -> str:
        """The folder of the event files."""
        return str(self._folder)

    def get_logdir(self) -> str:
        """Return the folder of the event files."""
        return self.log_dir

    def add_scalar(
        self,
        tag: str,
        scalar_value: Any,
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Write one number of a step, as a point of a curve.

        Parameters
        ----------
        tag : str
            The name of the curve.  Curves with the same text before a slash form a
            group.
        scalar_value : number, tensor or array of one element
            The number.  It is stored as float32.
        global_step : int, optional
            The number of the step.  The default is 0.
        walltime : float, optional
            The time in seconds since 1970.  The default is the current time.

        Raises
        ------
        DTypeError
            If an argument has a wrong type, or if the tensor has several elements.

        Examples
        --------
        >>> import tempfile
        >>> import autocalc as ac
        >>> writer = ac.utils.tensorboard.SummaryWriter(tempfile.mkdtemp())
        >>> writer.add_scalar("loss/train", ac.tensor(0.25), global_step=1)
        >>> writer.close()
        """
        where = "SummaryWriter.add_scalar"
        tag = text_of(where, "tag", tag)
        value = number(where, "scalar_value", scalar_value)
        self._write(events.scalar(tag, value), global_step, walltime, where)

    def add_scalars(
        self,
        main_tag: str,
        tag_scalar_dict: Any,
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Write several numbers of a step, as points of curves in one diagram.

        Each curve is written to its own folder below `log_dir`, because a file can only
        hold one curve of a name.

        Parameters
        ----------
        main_tag : str
            The name of the diagram.
        tag_scalar_dict : dict
            The names of the curves and their numbers.
        global_step, walltime : optional
            The same as for `add_scalar`.

        Raises
        ------
        DTypeError
            If an argument has a wrong type.  Then nothing is written.

        Examples
        --------
        >>> import tempfile
        >>> from autocalc.utils.tensorboard import SummaryWriter
        >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
        ...     writer.add_scalars("loss", {"train": 0.3, "test": 0.4}, 1)
        """
        where = "SummaryWriter.add_scalars"
        tag = text_of(where, "main_tag", main_tag)
        if not isinstance(tag_scalar_dict, Mapping):
            raise DTypeError(
                f"{where}: `tag_scalar_dict` is {short(tag_scalar_dict)}; it must be a "
                f"dict of numbers."
            )
        values = {
            text_of(where, "a key of tag_scalar_dict", name): number(where, name, value)
            for name, value in tag_scalar_dict.items()
        }
        _check_moment(where, global_step, walltime)
        for name, value in values.items():
            self._other(f"{tag}_{name}").add_scalar(tag, value, global_step, walltime)

    def add_histogram(
        self,
        tag: str,
        values: Any,
        global_step: int | None = None,
        bins: Any = "tensorflow",
        walltime: float | None = None,
        max_bins: int | None = None,
    ) -> None:
        """Write the distribution of the elements of a tensor, as a histogram.

        Parameters
        ----------
        tag : str
            The name of the histogram.
        values : tensor or array
            The elements.  Infinite elements and NaN are ignored.
        bins : str, int or sequence of numbers
            The bins.  ``"tensorflow"`` makes bins whose limits grow by 10 % from 1e-12
            to 1e20, for positive and for negative numbers.  Everything else is an
            argument of `numpy.histogram`: ``"auto"``, a number of bins, or the limits
            of the bins.
        global_step, walltime : optional
            The same as for `add_scalar`.
        max_bins : int, optional
            The largest number of bins.  If there are more, neighbouring bins are
            merged.

        Raises
        ------
        ArgumentError
            If no element is finite, or if `bins` is invalid.
        DTypeError
            If an argument has a wrong type.

        Examples
        --------
        >>> import tempfile
        >>> import autocalc as ac
        >>> layer = ac.nn.Linear(3, 2)
        >>> with ac.utils.tensorboard.SummaryWriter(tempfile.mkdtemp()) as writer:
        ...     writer.add_histogram("weight", layer.weight, 0)
        """
        where = "SummaryWriter.add_histogram"
        tag = text_of(where, "tag", tag)
        found = histogram_of(where, values, bins, max_bins)
        self._write(events.histogram(tag, found), global_step, walltime, where)

    def add_text(
        self,
        tag: str,
        text_string: str,
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Write a text, which TensorBoard shows as Markdown.

        Parameters
        ----------
        tag, text_string : str
            The name and the text.
        global_step, walltime : optional
            The same as for `add_scalar`.

        Raises
        ------
        DTypeError
            If an argument has a wrong type.

        Examples
        --------
        >>> import tempfile
        >>> from autocalc.utils.tensorboard import SummaryWriter
        >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
        ...     writer.add_text("settings", "learning rate **0.1**")
        """
        where = "SummaryWriter.add_text"
        tag = (
            f"{text_of(where, 'tag', tag)}/text_summary"  # as TensorBoard's writer does
        )
        content = events.text(tag, text_of(where, "text_string", text_string))
        self._write(content, global_step, walltime, where)

    def flush(self) -> None:
        """Write all pending events to the file, so that TensorBoard can read them.

        Examples
        --------
        >>> import tempfile
        >>> from autocalc.utils.tensorboard import SummaryWriter
        >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
        ...     writer.add_scalar("loss", 0.5)
        ...     writer.flush()
        """
        if self._file is not None:
            self._file.flush()
            self._waiting, self._flushed = 0, monotonic()
        for other in self._others.values():
            other.flush()

    def close(self) -> None:
        """Write all pending events and close the files.

        A later event opens a new file.

        Examples
        --------
        >>> import tempfile
        >>> from autocalc.utils.tensorboard import SummaryWriter
        >>> SummaryWriter(tempfile.mkdtemp()).close()
        """
        if self._file is not None:
            self._file.close()
            self._file = None
        for other in self._others.values():
            other.close()

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _other(self, name: str) -> SummaryWriter:
        """Return the writer of a subfolder, made when it is first needed."""
        name = re.sub(r"[/\\]", "_", name)
        if name not in self._others:
            self._others[name] = SummaryWriter(
                self._folder / name,
                max_queue=self._max_queue,
                flush_secs=self._flush_secs,
                filename_suffix=self._suffix,
            )
        return self._others[name]

    def _open(self) -> IO[bytes]:
        self._folder.mkdir(parents=True, exist_ok=True)
        name = (
            f"events.out.tfevents.{int(time()):010d}.{socket.gethostname()}."
            f"{os.getpid()}.{next(_files)}{self._suffix}"
        )
        self._file = (self._folder / name).open("wb")
        self._file.write(framed(events.event(time(), 0, events.file_version())))
        self.flush()
        return self._file

    def _write(
        self,
        content: bytes,
        step: int | None,
        walltime: float | None,
        where: str = "SummaryWriter",
    ) -> None:
        """Write an event; flush if enough time has passed."""
        moment, at = _check_moment(where, step, walltime)
        file = self._open() if self._file is None else self._file
        file.write(framed(events.event(moment, at, content)))
        self._waiting += 1
        late = monotonic() - self._flushed >= self._flush_secs
        if late or self._waiting >= self._max_queue:
            self.flush()


def _check_moment(
    where: str, step: int | None, walltime: float | None
) -> tuple[float, int]:
    """Return the time in seconds since 1970 and the step of an event."""
    at = 0 if step is None else as_int(where, "global_step", step)
    moment = time() if walltime is None else number(where, "walltime", walltime)
    return moment, at


def _default(comment: str) -> Path:
    """Return ``runs/Nov25_14-20-07_host`` with a comment appended."""
    now = datetime.now().astimezone().strftime("%b%d_%H-%M-%S")
    return Path("runs") / f"{now}_{socket.gethostname()}{comment}"
