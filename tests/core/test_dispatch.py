# SPDX-License-Identifier: MIT
"""Which implementation runs, how it is chosen, and how it is explained."""

from __future__ import annotations

import dataclasses
import threading

import numpy as np
import pytest
from tests.dispatcher import (
    MAX_DECISIONS,
    PROCESS,
    Decomposed,
    KernelCall,
    arrays,
    native,
)
from tests.kernel_table import PRIMITIVES, TABLE, Make, adapt

import autocalc as ac
from autocalc.errors import ConfigError, KernelError
from autocalc.plugin import KernelImpl, KernelSet

REFERENCE = {name: adapt(spec) for name, spec in TABLE.items()}


def fake(name, *kernels, supports=None, kernel_rank=None, describe=None, **options):
    """Make a set that runs reference code under its own name."""
    family = name.split("-")[0]
    impls = {
        kernel: KernelImpl(
            REFERENCE[kernel], supports=supports, rank=kernel_rank, describe=describe
        )
        for kernel in kernels
    }
    return KernelSet(name, family=family, load=lambda: impls, **options)


def where(function, *args):
    """Return {kernel: set} for what runs in `function`."""
    with ac.kernels.count() as calls:
        function(*args)
    return dict(calls.keys())


A, B = ac.ones(2, 2), ac.ones(2, 2)


def chosen(kernel="gemm"):
    operands = [A] if len(TABLE[kernel].inputs) == 1 else [A, B]
    return ac.kernels.explain(kernel, *operands).chosen


@pytest.fixture
def fast(install):
    """Three sets: fast-2 before fast-1 before slow."""
    return install(
        fast=[
            fake("fast-1", "add", "gemm", rank=250),
            fake("fast-2", "add", "mul", "gemm", rank=300),
        ],
        slow=[fake("slow", "add", "gemm", "exp", rank=50)],
    )


# ---- order ---------------------------------------------------------------------------


def test_rank_decides(fast):
    assert chosen() == "fast-2"
    assert chosen("exp") == "slow"
    assert chosen("log") == "reference"
    assert ac.kernels.available() == ["fast-2", "fast-1", "slow", "reference"]


def test_a_kernel_may_lower_its_rank(install):
    install(
        a=[fake("a", "add", rank=200, kernel_rank=10)], b=[fake("b", "add", rank=100)]
    )
    assert chosen("add") == "b"


def test_equal_ranks_go_by_name(install):
    install(b=[fake("b", "add")], a=[fake("a", "add")])
    assert chosen("add") == "a"


def test_use_as_a_block(fast):
    with ac.kernels.use("slow"):
        assert chosen() == "slow"
        assert chosen("mul") == "fast-2"
        with ac.kernels.use("fast-1", "slow"):
            assert chosen() == "fast-1"
            assert chosen("exp") == "slow"
        assert chosen() == "slow"
    assert chosen() == "fast-2"


def test_use_for_the_process(fast):
    ac.kernels.use("slow")
    assert chosen() == "slow"
    seen = []
    thread = threading.Thread(target=lambda: seen.append(chosen()))
    thread.start()
    thread.join()
    assert seen == ["slow"]
    ac.kernels.use()
    assert chosen() == "fast-2"


def test_a_block_is_local_to_its_thread(fast):
    seen = []
    with ac.kernels.use("slow"):
        thread = threading.Thread(target=lambda: seen.append(chosen()))
        thread.start()
        thread.join()
    assert seen == ["fast-2"]


def test_a_block_keeps_the_decisions_of_the_process(fast):
    A + B
    tables = PROCESS.tables
    with ac.kernels.use("slow"):
        A + B
    assert PROCESS.tables is tables


def test_a_counter_does_not_stay_behind(fast):
    with ac.kernels.count() as calls:
        ac.kernels.use("slow")
    A + B
    assert PROCESS.wrap is None
    assert not calls


def test_only(fast):
    with ac.kernels.use("slow", only=True):
        assert chosen() == "slow"
        assert chosen("mul") == "reference"
        names = [c.name for c in ac.kernels.explain("add", A, B).candidates]
        assert names == ["slow", "reference"]


def test_a_family_means_its_best_set(fast):
    with ac.kernels.use("fast"):
        assert chosen() == "fast-2"
    with ac.kernels.use("fast-1"):
        assert chosen() == "fast-1"


def test_the_reference_can_be_chosen(fast):
    with ac.kernels.use("reference"):
        assert chosen() == "reference"


def test_the_environment_chooses(environment, fast):
    environment(AUTOCALC_KERNELS="slow, reference")
    assert chosen() == "slow"
    assert chosen("mul") == "reference"
    with ac.kernels.use("fast"):
        assert chosen() == "fast-2"


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ("fats", r"'fats'; installed are fast, .*, slow\. Did you mean 'fast'\?"),
        ("", "no kernel set or family ''; installed are"),
    ],
)
def test_an_unknown_choice_lists_what_exists(fast, choice, message):
    with pytest.raises(ConfigError, match=message):
        ac.kernels.use(choice)
    assert chosen() == "fast-2"


def test_an_unknown_choice_in_the_environment(environment, fast):
    environment(AUTOCALC_KERNELS="simmd")
    with pytest.raises(ConfigError, match="'simmd'"):
        A + B


# ---- refusals ------------------------------------------------------------------------


def test_refusals_pass_the_call_on(install):
    def supports(key):
        return None if key.dtypes[0] == np.float32 else f"{key.dtypes[0]} is not for me"

    install(mine=[fake("mine", "add", "sum", supports=supports)])
    assert chosen("add") == "mine"
    explained = ac.kernels.explain("add", A.double(), B.double())
    assert explained.chosen == "reference"
    assert "refused: float64 is not for me" in str(explained)
    assert where(lambda: A + B)["add"] == "mine"
    assert where(lambda: A.double() + B.double())["add"] == "reference"


def test_supports_sees_the_whole_key_where_the_spec_says_so(install):
    seen = []

    def supports(key):
        seen.append(key)
        return "too small" if key.shapes[0][0] < 4 else None

    install(mine=[fake("mine", "gemm", supports=supports)])
    assert where(lambda: ac.ones(2, 3) @ ac.ones(3, 5))["gemm"] == "reference"
    assert where(lambda: ac.ones(4, 3) @ ac.ones(5, 3).t())["gemm"] == "mine"
    key = next(key for key in seen if key.shapes[0] == (4, 5))
    assert key.kernel == "gemm"
    assert key.shapes == ((4, 5), None, (4, 3), (3, 5), None)
    assert key.strides == (None, None, (12, 4), (4, 12), None)
    assert key.dtypes[1] is None
    assert key.attributes[:3] == (1.0, 0.0, "none")


def test_a_decision_is_taken_once(install):
    asked = []

    def supports(key):
        asked.append(key)

    install(mine=[fake("mine", "add", "gemm", supports=supports)])
    for n in (1, 2, 3):
        ac.ones(n) + ac.ones(n)
    assert len(asked) == 1  # of dtypes alone
    for _ in range(3):
        A @ B
    assert len(asked) == 2
    ac.ones(3, 3) @ ac.ones(3, 3)
    assert len(asked) == 3  # of shapes
    ac.kernels.reload()
    A + B
    assert len(asked) == 4


def test_decisions_do_not_fill_the_memory():
    index = next(i for i, name in enumerate(TABLE) if name == "sum")
    table = PROCESS.tables[index]
    for i in range(MAX_DECISIONS + 10):
        PROCESS.remember(index, ("test", i), None)
        assert len(table) <= MAX_DECISIONS
    PROCESS.forget()


def test_strict_makes_a_fall_to_the_reference_an_error(environment, install):
    install(mine=[fake("mine", "add", "fill", supports=lambda key: "no")])
    environment(AUTOCALC_STRICT="1")
    with pytest.raises(KernelError, match=r"add: AUTOCALC_STRICT.*Refused by mine: no"):
        arrays.add(np.ones(1), np.ones(1))
    with ac.kernels.use("reference"):
        assert (A + B).sum().item() == 8


def test_deterministic_algorithms_refuse_sets_that_promise_nothing(install):
    install(
        a=[fake("a", "add", rank=200)],
        b=[fake("b", "add", rank=100, determinism="run")],
    )
    assert chosen("add") == "a"
    ac.use_deterministic_algorithms(True)
    assert ac.are_deterministic_algorithms_enabled()
    assert chosen("add") == "b"
    assert where(lambda: A + B)["add"] == "b"
    assert "promises none" in str(ac.kernels.explain("add", A, B))
    ac.use_deterministic_algorithms(False)
    assert where(lambda: A + B)["add"] == "a"


def test_deterministic_by_the_environment_and_within_a_block(environment, install):
    install(a=[fake("a", "add", rank=200)])
    environment(AUTOCALC_DETERMINISTIC="1")
    assert ac.are_deterministic_algorithms_enabled()
    assert chosen("add") == "reference"
    with ac.kernels.use("a"):
        ac.use_deterministic_algorithms(False)
        assert where(lambda: A + B)["add"] == "a"


def test_nothing_that_runs_is_an_error_that_lists_who_was_asked(install, monkeypatch):
    registry = install(mine=[fake("mine", "add", supports=lambda key: "not today")])
    monkeypatch.delitem(registry.sets, "reference")
    with pytest.raises(
        KernelError, match=r"No kernel for add\(float32, .*Tried mine: not today"
    ):
        A + B


# ---- decompositions ------------------------------------------------------------------


def test_a_lead_kernel_brings_the_composite_along(install):
    install(blas=[fake("blas", "gemm")], simd=[fake("simd", *PRIMITIVES, rank=200)])
    from autocalc.nn.functional import linear

    x, w, b = ac.ones(2, 3), ac.ones(4, 3), ac.ones(4)
    with ac.kernels.use("blas"):
        ran = where(linear, x, w, b)
        explained = ac.kernels.explain("linear", x, w, b, "none")
        result = linear(x, w, b)
    assert ran["gemm"] == "blas"
    assert "reference" not in ran.values()
    assert explained.candidates[0].how == "decomposed, lead gemm"
    assert result.tolist() == [[4.0] * 4] * 2


def test_a_set_that_adds_to_others_takes_no_composite_apart(install):
    adds = dataclasses.replace(fake("adds", "gemm", rank=900), decomposes=False)
    install(adds=[adds])
    from autocalc.nn.functional import linear

    call = (ac.ones(2, 3), ac.ones(4, 3), ac.ones(4))
    explained = ac.kernels.explain("linear", *call, "none")
    assert explained.candidates[0].name == "adds"
    assert explained.candidates[0].refusal == "has no such kernel"
    assert "adds" not in where(linear, *call).values()


def test_a_set_of_primitives_runs_everything(install):
    install(mine=[fake("mine", *PRIMITIVES)])
    from autocalc.nn.functional import cross_entropy, linear

    w = ac.rand(3, 4, requires_grad=True)

    def step():
        h = linear(ac.rand(5, 4), w, ac.zeros(3)).tanh()
        loss = (
            cross_entropy(h, ac.tensor([0, 1, 2, 0, 1])) + h.var() + h.sigmoid().mean()
        )
        loss.backward()

    assert set(where(step).values()) == {"mine"}


def samples(spec):
    """Return the first samples of a spec that are small."""
    from tests.kernel_table import Make

    result = []
    for sample in spec.samples(Make(np.dtype(np.float64))):
        sizes = [x.size for x in sample.inputs if hasattr(x, "size")]
        if all(size < 200 for size in sizes):
            result.append(sample)
        if len(result) == 6:
            break
    return result


def test_decompositions_share_no_memory_with_their_inputs():
    # Their results go to users as new tensors.
    for name, spec in TABLE.items():
        if spec.decomposition is None or spec.writes or spec.free:
            continue
        for sample in samples(spec):
            keywords = {"want": -1} if any(o.optional for o in spec.outputs) else {}
            results = Decomposed(spec).spec.decomposition(
                arrays, *sample.inputs, *sample.attributes, **keywords
            )
            results = results if isinstance(results, tuple) else (results,)
            for result in results:
                for given in sample.inputs:
                    if hasattr(given, "size") and result is not None:
                        assert not np.shares_memory(result, given), name


# ---- explain, show, count ------------------------------------------------------------


def test_an_explanation_tells_candidates_ranks_and_what_would_change_it(fast):
    text = str(ac.kernels.explain("gemm", A, B))
    assert text.startswith("gemm(float32, None, float32, float32, None) runs on fast-2")
    assert "-> 1. fast-2 (rank 300, by rank): own kernel" in text
    assert "4. reference (rank 0, by rank): own kernel" in text
    assert "ac.kernels.use('fast-1') or AUTOCALC_KERNELS=fast-1" in text
    with ac.kernels.use("slow"):
        assert "(rank 50, chosen as 'slow')" in str(ac.kernels.explain("gemm", A, B))


def test_an_explanation_tells_in_which_of_its_ways_a_kernel_runs(install):
    def describe(key):
        return "by recipe" if key.dtypes[0] == np.float32 else None

    install(mine=[fake("mine", "add", describe=describe, rank=10)])
    single = ac.kernels.explain("add", ac.ones(1), ac.ones(1))
    assert single.candidates[0].how == "own kernel, by recipe"
    double = np.ones(1)
    assert ac.kernels.explain("add", double, double).candidates[0].how == "own kernel"


def test_a_description_that_raises_is_told_and_the_kernel_runs(install):
    def describe(key):
        raise ZeroDivisionError("ouch")

    install(mine=[fake("mine", "add", describe=describe, rank=10)])
    told = ac.kernels.explain("add", ac.ones(1), ac.ones(1))
    assert told.chosen == "mine"
    assert "own kernel, its describe() raised ZeroDivisionError: ouch" in str(told)


def test_an_explanation_takes_arrays_lists_and_attributes():
    x = np.ones((2, 3), np.float32)
    assert ac.kernels.explain("sum", x, (0,), False).chosen in ac.kernels.available()
    p = [ac.ones(2)]
    text = str(
        ac.kernels.explain(
            "sgd", p, [], p, ac.tensor(0.1), ac.tensor(1), 0.0, 0.0, 0.0, False, False
        )
    )
    assert text.startswith("sgd(")


def test_an_explanation_when_nothing_else_is_installed(install):
    install()
    assert "install a kernel package" in str(ac.kernels.explain("add", A, B))


def test_unknown_kernels_cannot_be_explained():
    with pytest.raises(
        ConfigError, match="no kernel 'matmul'; the table has abs, acos"
    ):
        ac.kernels.explain("matmul", A, B)


@pytest.mark.parametrize("name", ["axpy", "sgd", "adamw"])
def test_the_key_of_a_kernel_that_writes_names_each_operand_once(name):
    spec = TABLE[name]
    sample = next(iter(spec.samples(Make(np.dtype("f4")))))
    key = KernelCall(spec).key(*sample.inputs, *sample.attributes)
    assert len(key.dtypes) == len(spec.outputs) + len(spec.inputs)


def test_a_wrong_number_of_attributes():
    with pytest.raises(ac.errors.ArgumentError, match="sum: got 3 attributes, but"):
        arrays.sum(np.ones(2), (0,), False, 1)
    with pytest.raises(ac.errors.ArgumentError, match=r"sum: got 0 .*axes, keepdim"):
        arrays.sum(np.ones(2))


def test_the_namespace_knows_its_kernels():
    with pytest.raises(AttributeError, match="no kernel 'frobnicate'"):
        arrays.frobnicate  # noqa: B018
    assert "add" in repr(arrays.sum) or repr(arrays.sum).startswith("<kernel sum")


def test_the_report(fast, environment):
    report = ac.kernels.show()
    assert [line.name for line in report.sets] == [
        "fast-2",
        "fast-1",
        "slow",
        "reference",
    ]
    text = str(report)
    assert f"{ac.get_num_threads()} threads" in text
    assert "fast-2" in text
    assert repr(report) == text


def test_the_report_shows_the_environment(environment):
    environment(AUTOCALC_STRICT="0")
    assert "AUTOCALC_STRICT=0" in str(ac.kernels.show())


def test_counting_nests_and_counts_what_runs():
    with ac.kernels.count() as outer:
        A + B
        with ac.kernels.count() as inner:
            A * B
        A - B
    ran = [{kernel for kernel, _ in calls} for calls in (outer, inner)]
    assert "mul" in ran[1]
    assert "add" not in ran[1]
    assert {"add", "mul", "sub"} <= ran[0] | {"sub"}


def test_the_whole_key_is_described_without_running(install):
    install()
    before = PROCESS.tables[0].copy()
    ac.kernels.explain("copy", A)
    assert PROCESS.tables[0] == before


# ---- memory --------------------------------------------------------------------------


def test_results_come_from_the_first_allocator(install):
    class Counting:
        made = 0

        def empty(self, shape, dtype):
            Counting.made += 1
            return np.empty(shape, dtype)

        def stats(self):
            return {"made": Counting.made}

        def trim(self):
            Counting.made = 0

    install(mine=[fake("mine", "add", allocator=Counting)])
    before = Counting.made
    A + B
    assert Counting.made > before
    assert ac.memory.stats() == {"made": Counting.made}
    ac.memory.trim()
    assert Counting.made == 0
    with ac.kernels.use("reference", only=True):
        A + B
    assert Counting.made == 0


def test_without_an_allocator(install, monkeypatch):
    monkeypatch.setattr(native, "allocator", None)
    install()
    assert ac.memory.stats() == {}
    ac.memory.trim()


def test_constants_are_cached_and_keep_their_sign_and_type():
    from tests.dispatcher import constant

    f4 = np.dtype(np.float32)
    assert constant(2, f4) is constant(2, f4)
    assert not constant(2, f4).flags.writeable
    assert np.signbit(constant(-0.0, f4))
    assert not np.signbit(constant(0, f4))
    assert constant(True, np.dtype(np.int64)).dtype == np.int64
    for i in range(3000):
        constant(i, f4)
