# SPDX-License-Identifier: MIT
"""The part of `SummaryWriter` that writes pictures, curves and settings of runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import time
from typing import Any

from autocalc._tensor import Tensor
from autocalc._tensor.checks import as_int, check_flag, check_type, short
from autocalc.errors import AbsentError, ArgumentError, DTypeError
from autocalc.utils.tensorboard import _events as events
from autocalc.utils.tensorboard import _pictures as pictures


def text_of(where: str, name: str, value: Any) -> str:
    """Return an argument that is a text, or raise."""
    return check_type(where, name, value, str, "a text")


def _refusing(name: str, instead: str) -> Any:
    """Return a method that says that its kind of events is not written."""

    def method(*_: Any, **__: Any) -> None:
        raise AbsentError(f"SummaryWriter.{name} is not in AutoCalc. {instead}")

    method.__name__ = name
    method.__doc__ = f"Raise an AbsentError. {instead}"
    return method


class Shown:
    """What is looked at besides numbers and texts."""

    def _write(
        self, content: bytes, step: int | None, walltime: float | None, where: str
    ) -> None:
        raise NotImplementedError

    def add_image(
        self,
        tag: str,
        img_tensor: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        dataformats: str = "CHW",
    ) -> None:
        """Write a picture.

        Parameters
        ----------
        tag : str
            The picture's name.
        img_tensor : tensor or array
            From 0 to 255 for uint8, from 0 to 1 for other dtypes; with 1, 3 or 4
            channels.
        global_step, walltime : optional
            The same as for `add_scalar`.
        dataformats : str
            The dimensions: C for channels, H and W for height and width.

        Raises
        ------
        ShapeError
            If the dimensions are others, or there are other numbers of channels.
        DTypeError
            If an argument is of another type.

        Examples
        --------
        >>> import tempfile
        >>> import autocalc as ac
        >>> with ac.utils.tensorboard.SummaryWriter(tempfile.mkdtemp()) as writer:
        ...     writer.add_image("noise", ac.rand(3, 8, 8), 0)
        """
        where = "SummaryWriter.add_image"
        self._picture(where, tag, img_tensor, global_step, walltime, dataformats)

    def add_images(
        self,
        tag: str,
        img_tensor: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        dataformats: str = "NCHW",
    ) -> None:
        """Write several pictures as one, in rows of 8.

        Parameters
        ----------
        tag, img_tensor, global_step, walltime
            The same as for `add_image`.
        dataformats : str
            The dimensions; N for the pictures.

        Raises
        ------
        ShapeError
            If the dimensions are others, or there are other numbers of channels.
        DTypeError
            If an argument is of another type.

        Examples
        --------
        >>> import tempfile
        >>> import autocalc as ac
        >>> with ac.utils.tensorboard.SummaryWriter(tempfile.mkdtemp()) as writer:
        ...     writer.add_images("noise", ac.rand(4, 1, 8, 8), 0)
        """
        where = "SummaryWriter.add_images"
        self._picture(where, tag, img_tensor, global_step, walltime, dataformats)

    def add_figure(
        self,
        tag: str,
        figure: Any,
        global_step: int | None = None,
        close: bool = True,
        walltime: float | None = None,
    ) -> None:
        """Write a figure of Matplotlib, or several in rows of 8.

        Parameters
        ----------
        tag : str
            The picture's name.
        figure
            The figure, or a list of figures of one size.
        close
            Whether to close what was drawn.
        global_step, walltime : optional
            The same as for `add_scalar`.

        Raises
        ------
        ImportError
            If Matplotlib is not installed.
        DTypeError
            If an argument is of another type.

        Examples
        --------
        >>> import tempfile
        >>> from autocalc.utils.tensorboard import SummaryWriter
        >>> import matplotlib.figure  # doctest: +SKIP
        >>> with SummaryWriter(tempfile.mkdtemp()) as writer:  # doctest: +SKIP
        ...     writer.add_figure("empty", matplotlib.figure.Figure())
        """
        where = "SummaryWriter.add_figure"
        shut = check_flag(where, "close", close)
        many = figure if isinstance(figure, list) else [figure]
        drawn = [pictures.drawn(where, one) for one in many]
        both = (drawn, "NCHW") if isinstance(figure, list) else (drawn[0], "CHW")
        self._picture(where, tag, both[0], global_step, walltime, both[1])
        if shut:
            from matplotlib import pyplot as plt

            for one in many:
                plt.close(one)

    def _picture(
        self,
        where: str,
        tag: str,
        value: Any,
        step: int | None,
        walltime: float | None,
        dataformats: str,
    ) -> None:
        name = text_of(where, "tag", tag)
        array = pictures.pixels(where, "img_tensor", value, dataformats)
        height, width, channels = array.shape
        png = pictures.png(array)
        content = events.image(name, height, width, channels, png)
        self._write(content, step, walltime, where)

    def add_pr_curve(
        self,
        tag: str,
        labels: Any,
        predictions: Any,
        global_step: int | None = None,
        num_thresholds: int = 127,
        weights: Any = None,
        walltime: float | None = None,
    ) -> None:
        """Write a precision-recall curve.

        Parameters
        ----------
        tag : str
            The curve's name.
        labels : tensor or array
            True for each element of the class.
        predictions : tensor or array
            The predicted probabilities, from 0 to 1.
        num_thresholds : int
            The number of points of the curve.
        weights : tensor or array, optional
            The weights of the elements.
        global_step, walltime : optional
            The same as for `add_scalar`.

        Raises
        ------
        ArgumentError
            If there are not as many labels as predictions.
        DTypeError
            If an argument is of another type.

        Examples
        --------
        >>> import tempfile
        >>> from autocalc.utils.tensorboard import SummaryWriter
        >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
        ...     writer.add_pr_curve("cats", [1, 0, 1], [0.9, 0.2, 0.7])
        """
        where = "SummaryWriter.add_pr_curve"
        name = text_of(where, "tag", tag)
        points = as_int(where, "num_thresholds", num_thresholds)
        rows = pictures.pr_rows(where, labels, predictions, min(points, 127), weights)
        self._write(events.pr_curve(name, rows), global_step, walltime, where)

    def add_hparams(
        self,
        hparam_dict: Mapping[str, Any],
        metric_dict: Mapping[str, Any],
        hparam_domain_discrete: Mapping[str, Sequence[Any]] | None = None,
        run_name: str | None = None,
        global_step: int | None = None,
    ) -> None:
        """Write the settings and results of a run, to compare it with others.

        They go into a folder below.

        Parameters
        ----------
        hparam_dict
            The settings: texts, numbers, True or False.
        metric_dict
            The numbers that were reached.
        hparam_domain_discrete
            For some settings, all values that they may have.
        run_name
            The folder; by default the seconds since 1970.
        global_step : optional
            The same as for `add_scalar`.

        Raises
        ------
        DTypeError
            If an argument is of another type.

        Examples
        --------
        >>> import tempfile
        >>> from autocalc.utils.tensorboard import SummaryWriter
        >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
        ...     writer.add_hparams({"lr": 0.1}, {"accuracy": 0.9})
        """
        parts = hparams(hparam_dict, metric_dict, hparam_domain_discrete)
        other: Any = self._other(str(time()) if run_name is None else run_name)
        for part in parts:
            other.add_summary(part)
        for name, value in metric_dict.items():
            other.add_scalar(name, value, global_step)
        other.flush()

    def _other(self, name: str) -> Any:
        raise NotImplementedError

    def add_summary(
        self,
        summary: bytes,
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Write an encoded summary, as `add_hparams` does.

        Parameters
        ----------
        summary
            The encoded bytes.
        global_step, walltime : optional
            The same as for `add_scalar`.

        Raises
        ------
        DTypeError
            If an argument is of another type.

        Examples
        --------
        >>> import tempfile
        >>> from autocalc.utils.tensorboard import SummaryWriter
        >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
        ...     writer.add_summary(b"")
        """
        where = "SummaryWriter.add_summary"
        content = check_type(where, "summary", summary, bytes, "bytes")
        self._write(content, global_step, walltime, where)

    @property
    def file_writer(self) -> Any:
        """What writes events: the writer itself."""
        return self

    def _get_file_writer(self) -> Any:
        return self

    add_graph = _refusing("add_graph", "Instead: autocalc.onnx.export, and Netron.")
    add_embedding = _refusing("add_embedding", "Instead: add_figure of two components.")
    add_audio = _refusing("add_audio", "Instead: a file of its own.")
    add_video = _refusing("add_video", "Instead: add_images of the pictures.")
    add_mesh = _refusing("add_mesh", "Instead: add_figure.")


def hparams(
    hparam_dict: Any, metric_dict: Any, hparam_domain_discrete: Any = None
) -> tuple[bytes, bytes, bytes]:
    """Return an experiment's settings and metrics, and a run's start and end."""
    where = "SummaryWriter.add_hparams"
    for name, value in (("hparam_dict", hparam_dict), ("metric_dict", metric_dict)):
        check_type(where, name, value, Mapping, "a dict")
    choices = {} if hparam_domain_discrete is None else hparam_domain_discrete
    check_type(where, "hparam_domain_discrete", choices, Mapping, "a dict")
    if unknown := [name for name in choices if name not in hparam_dict]:
        raise ArgumentError(
            f"{where}: `hparam_domain_discrete` names {unknown[0]!r}, which is no "
            f"setting."
        )
    settings = {k: _plain(where, k, v) for k, v in hparam_dict.items()}
    return events.hparams(settings, list(metric_dict), choices)


def _plain(where: str, name: str, value: Any) -> Any:
    """Return a setting as a number, a text, True or False."""
    if isinstance(value, Tensor):
        value = value.item()
    if value is None:
        return ""
    if not isinstance(value, (int, float, str)):
        raise DTypeError(
            f"{where}: {name!r} is {short(value)}; a setting is a number, a text, True "
            f"or False."
        )
    return value
