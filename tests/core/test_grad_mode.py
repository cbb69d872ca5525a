# SPDX-License-Identifier: MIT
"""`no_grad` and its kin: as blocks, as decorators, in threads and tasks."""

from __future__ import annotations

import asyncio
import threading

import pytest

import autocalc as ac


def records():
    return (ac.ones(1, requires_grad=True) * 2).requires_grad


def test_blocks_nest():
    assert records()
    with ac.no_grad():
        assert not records()
        with ac.enable_grad():
            assert records()
        assert not records()
        with ac.set_grad_enabled(True):
            assert records()
    assert records()


def test_a_block_can_be_entered_again():
    block = ac.no_grad()
    for _ in range(2):
        with block:
            assert not ac.is_grad_enabled()
            with block:
                assert not ac.is_grad_enabled()
        assert ac.is_grad_enabled()


def test_an_error_leaves_the_mode_as_it_was():
    with pytest.raises(ZeroDivisionError), ac.no_grad():
        1 / 0  # noqa: B018
    assert ac.is_grad_enabled()


def test_a_generator_is_closed_in_its_mode():
    modes = []

    @ac.no_grad()
    def steps():
        try:
            yield ac.is_grad_enabled()
        finally:
            modes.append(ac.is_grad_enabled())

    generator = steps()
    assert next(generator) is False
    generator.close()
    assert modes == [False]
    assert ac.is_grad_enabled()


def test_decorators():
    @ac.no_grad()
    def a():
        """Doc."""
        return records()

    @ac.no_grad
    def b():
        return records()

    @ac.enable_grad()
    def c():
        return records()

    @ac.set_grad_enabled(False)
    def d():
        return records()

    assert ac.is_grad_enabled()  # `set_grad_enabled` only decorated
    assert (a(), b(), d()) == (False, False, False)
    assert a.__doc__ == "Doc."
    with ac.no_grad():
        assert c()


def test_a_decorated_function_may_call_itself():
    @ac.no_grad()
    def f(n):
        return ac.is_grad_enabled() or (n > 0 and f(n - 1))

    assert not f(3)
    assert ac.is_grad_enabled()


def test_switching_without_a_block():
    ac.set_grad_enabled(False)
    try:
        assert not records()
    finally:
        ac.set_grad_enabled(True)
    assert records()


def test_generators_keep_the_mode_to_themselves():
    @ac.no_grad()
    def steps():
        try:
            given = yield ac.is_grad_enabled()
            yield given, ac.is_grad_enabled()
        except ValueError:
            yield "caught", ac.is_grad_enabled()
        return "end"

    g = steps()
    assert next(g) is False
    assert ac.is_grad_enabled()
    assert g.send(5) == (5, False)
    assert g.throw(ValueError) == ("caught", False)
    with pytest.raises(StopIteration, match="end"):
        next(g)
    assert ac.is_grad_enabled()
    unfinished = steps()
    next(unfinished)
    unfinished.close()


def test_threads_start_with_gradients_and_do_not_share_the_mode():
    seen = {}
    inside, done = threading.Event(), threading.Event()

    def work():
        seen["start"] = ac.is_grad_enabled()
        with ac.no_grad():
            inside.set()
            done.wait(5)

    thread = threading.Thread(target=work)
    with ac.no_grad():
        thread.start()
        inside.wait(5)
    assert ac.is_grad_enabled()  # while the other thread is inside
    done.set()
    thread.join()
    assert seen["start"]


def test_tasks_do_not_share_the_mode():
    @ac.no_grad()
    async def quiet():
        first = ac.is_grad_enabled()
        await asyncio.sleep(0.01)
        return first, ac.is_grad_enabled()

    async def loud():
        modes = []
        for _ in range(5):
            modes.append(ac.is_grad_enabled())
            await asyncio.sleep(0.003)
        return modes

    async def main():
        return await asyncio.gather(quiet(), loud())

    assert asyncio.run(main()) == [(False, False), [True] * 5]


def test_the_choice_of_kernels_is_local_to_a_task_too():
    async def chosen():
        with ac.kernels.use("reference", only=True):
            await asyncio.sleep(0.005)
            return (
                ac.kernels.explain("add", ac.ones(1), ac.ones(1)).candidates[0].origin
            )

    async def other():
        await asyncio.sleep(0.002)
        return ac.kernels.explain("add", ac.ones(1), ac.ones(1)).candidates[-1].origin

    async def main():
        return await asyncio.gather(chosen(), other())

    assert asyncio.run(main()) == ["chosen as 'reference'", "by rank"]
