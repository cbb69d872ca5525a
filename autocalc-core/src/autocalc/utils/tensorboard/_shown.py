# SPDX-License-Identifier: MIT
"""The part of `SummaryWriter` that writes pictures, curves and hyperparameters."""

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
    """Return an argument that is a string; raise for any other object."""
    return check_type(where, name, value, str, "a text")


def _refusing(name: str, instead: str) -> Any:
    """Return a method that raises, because its kind of events is not supported."""

    def method(*_: Any, **__: Any) -> None:
        raise AbsentError(f"SummaryWriter.{name} is not in AutoCalc. {instead}")

    method.__name__ = name
    method.__doc__ = f"Raise an AbsentError. {instead}"
    return method


class Shown:
    """The methods of `SummaryWriter` for images, curves and hyperparameters."""

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
        """Write an image.

        Parameters
        ----------
        tag : str
            The name of the image.
        img_tensor : tensor or array
            The pixels: from 0 to 255 for uint8, from 0 to 1 for other dtypes.  The
            number of channels is 1, 3 or 4.
        global_step, walltime : optional
            The same as for `add_scalar`.
        dataformats : str
            The order of the dimensions: C for channels, H for height, W for width.

        Raises
        ------
        ShapeError
            If the dimensions do not match `dataformats`, or if the number of channels
            is wrong.
        DTypeError
            If an argument has a wrong type.

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
        """Write several images as one image, in rows of 8.

        Parameters
        ----------
        tag, img_tensor, global_step, walltime
            The same as for `add_image`.
        dataformats : str
            The order of the dimensions, as for `add_image`; N is the number of images.

        Raises
        ------
        ShapeError
            If the dimensions do not match `dataformats`, or if the number of channels
            is wrong.
        DTypeError
            If an argument has a wrong type.

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
        """Write a figure of Matplotlib, or several figures in rows of 8.

        Parameters
        ----------
        tag : str
            The name of the image.
        figure
            The figure, or a list of figures of the same size.
        close
            True to close the figures afterwards.
        global_step, walltime : optional
            The same as for `add_scalar`.

        Raises
        ------
        ImportError
            If Matplotlib is not installed.
        DTypeError
            If an argument has a wrong type.

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
        """Write a precision-recall curve of a binary classifier.

        Parameters
        ----------
        tag : str
            The name of the curve.
        labels : tensor or array
            The true classes: True (or 1) for elements of the class.
        predictions : tensor or array
            The predicted probabilities, from 0 to 1, with the shape of `labels`.
        num_thresholds : int
            The number of thresholds, which is the number of points of the curve.
        weights : tensor or array, optional
            A weight for each element.  The default is 1.
        global_step, walltime : optional
            The same as for `add_scalar`.

        Raises
        ------
        ArgumentError
            If `labels` and `predictions` do not have the same number of elements.
        DTypeError
            If an argument has a wrong type.

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
        """Write the hyperparameters and the results of a run, to compare runs.

        They are written into a folder below `log_dir`.

        Parameters
        ----------
        hparam_dict
            The hyperparameters by name: strings, numbers or booleans.
        metric_dict
            The results by name: numbers.
        hparam_domain_discrete
            All possible values of some of the hyperparameters, by name.
        run_name
            The name of the folder.  The default is the time in seconds since 1970.
        global_step : optional
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
        """Write an encoded summary.

        Parameters
        ----------
        summary
            The summary: an encoded protocol buffer.
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
        ...     writer.add_summary(b"")
        """
        where = "SummaryWriter.add_summary"
        content = check_type(where, "summary", summary, bytes, "bytes")
        self._write(content, global_step, walltime, where)

    @property
    def file_writer(self) -> Any:
        """The writer itself; in PyTorch, the object that writes the events."""
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
    """Return the settings and metrics of an experiment, and a run's start and end."""
    where = "SummaryWriter.add_hparams"
    for name, value in (("hparam_dict", hparam_dict), ("metric_dict", metric_dict)):
        check_type(where, name, value, Mapping, "a dict")
    choices = {} if hparam_domain_discrete is None else hparam_domain_discrete
    check_type(where, "hparam_domain_discrete", choices, Mapping, "a dict")
    if unknown := [name for name in choices if name not in hparam_dict]:
        raise ArgumentError(
            f"{where}: `hparam_domain_discrete` names {unknown[0]!r}, which is not a "
            "setting."
        )
    settings = {k: _plain(where, k, v) for k, v in hparam_dict.items()}
    return events.hparams(settings, list(metric_dict), choices)


def _plain(where: str, name: str, value: Any) -> Any:
    """Return a setting as a number, a string, True or False."""
    if isinstance(value, Tensor):
        value = value.item()
    if value is None:
        return ""
    if not isinstance(value, (int, float, str)):
        raise DTypeError(
            f"{where}: {name!r} is {short(value)}; a setting must be a number, a "
            "string, True or False."
        )
    return value
