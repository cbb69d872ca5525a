# SPDX-License-Identifier: MIT
"""Worker threads that make batches ahead of time and hand them out in order."""

from __future__ import annotations

import contextvars
from collections import deque
from collections.abc import Callable, Generator, Iterable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

Request = TypeVar("Request")
Result = TypeVar("Result")


def prefetch(
    function: Callable[[Request], Result],
    requests: Iterable[Request],
    *,
    workers: int,
    ahead: int,
) -> Generator[Result, None, None]:
    """Yield ``function(request)`` for each request, at most `ahead` of them in advance.

    Results come in the requests' order whichever thread finishes first.  What a worker
    raises is raised here, its traceback included.  Closing the generator, which happens
    when a loop over it is left, drops the waiting requests and joins the threads.
    """
    from concurrent.futures import ThreadPoolExecutor  # 8 ms of import

    pending: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(workers, thread_name_prefix="autocalc-data") as pool:
        try:
            for request in requests:
                # Workers see the caller's grad mode and kernel choice.  One context
                # cannot be entered by two threads, so each request gets a copy.
                context = contextvars.copy_context()
                pending.append(pool.submit(context.run, function, request))
                if len(pending) >= ahead:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            for future in pending:
                future.cancel()
