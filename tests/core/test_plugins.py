# SPDX-License-Identifier: MIT
"""Kernel packages in isolation: whatever is wrong is named, and work goes on.

The packages here are pretended; `tests/plugins` installs real ones.
"""

from __future__ import annotations

import types
import warnings

import numpy as np
import pytest
from tests.dispatcher import Plugin, Registry

import autocalc as ac
from autocalc.errors import ConfigError, ConfigWarning, PluginError, PluginWarning
from autocalc.plugin import KERNEL_API_VERSION, KernelImpl, KernelSet


def add(out, a, b):
    np.add(a, b, out=out)


def kernel_set(name="mine", **options):
    options.setdefault("load", lambda: {"add": add})
    options.setdefault("family", name.split("-")[0])
    return KernelSet(name, **options)


def refusal(registry, subject):
    found = [r for r in registry.refusals if r.subject == subject]
    assert len(found) == 1, registry.refusals
    return found[0]


def works():
    """Return whether training goes on."""
    x = ac.ones(2, requires_grad=True)
    (x + x).sum().backward()
    return x.grad.tolist() == [2.0, 2.0]


def set_that_ran(kernel="add"):
    with ac.kernels.count() as calls:
        ac.ones(2) + ac.ones(2)
    return next(name for (k, name) in calls if k == kernel)


def test_a_good_package(install):
    registry = install(mine=[kernel_set()])
    assert registry.refusals == []
    assert "mine" in ac.kernels.available()
    assert set_that_ran() == "mine"
    assert works()


def test_loading_waits_for_the_first_use(install):
    loads = []

    def load():
        loads.append(1)
        return {"add": add}

    registry = install(mine=[kernel_set(load=load)])
    assert loads == []
    assert not registry.is_loaded("mine")
    ac.ones(2) + 1
    ac.ones(2) + 1
    assert loads == [1]
    assert registry.loaded_sets()[-1].name == "mine"


MODULE_WITHOUT_HOOK = types.ModuleType("no_hook")


def raises():
    raise KeyError("oops")


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (ImportError("no libfoo"), "the plugin failed: ImportError: no libfoo"),
        (SyntaxError("bad"), "the plugin failed: SyntaxError"),
        (SystemExit(3), "the plugin failed: SystemExit: 3"),
        (raises, "the plugin failed: KeyError: 'oops'"),
        (MODULE_WITHOUT_HOOK, "the module has no hook `autocalc_kernel_sets`"),
        (lambda: None, "the plugin failed: TypeError"),
        (["not a set"], "returned 'not a set', which is not a KernelSet"),
    ],
)
def test_a_plugin_at_fault_is_refused_with_one_warning(install, given, reason):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        registry = install(bad=given, good=[kernel_set()])
        assert works()
    assert [w.category for w in caught] == [PluginWarning]
    assert "kernels: bad" in str(caught[0].message)
    found = refusal(registry, "bad")
    assert reason in found.reason
    assert found.fault
    if "failed" in reason:
        assert "Traceback" in found.traceback
    assert reason in str(ac.kernels.show())
    assert set_that_ran() == "mine"


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"api": KERNEL_API_VERSION + 1}, "made for kernel API 2, autocalc-core"),
        ({"rank": "high"}, "its `rank` is 'high', which is no int"),
        ({"requires": "avx2"}, "its `requires` is 'avx2', which is no set"),
        ({"requires": None}, "its `requires` is None"),
        ({"determinism": "always"}, "its `determinism` is 'always'"),
        ({"load": None}, "its `load` cannot be called"),
        ({"family": 3}, "its `family` is 3, which is no str"),
    ],
)
def test_a_set_that_is_described_wrongly(install, options, reason):
    with pytest.warns(PluginWarning, match="mine"):
        registry = install(bad=[kernel_set(**options)])
    assert reason in registry.refusals[0].reason
    assert "mine" not in registry.sets
    assert works()


def test_a_set_for_a_newer_api_names_both_and_what_to_install(install):
    wanted = r"API 7, autocalc-core \S+ has 1\. Run: pip install --upgrade autocalc-c"
    with pytest.warns(PluginWarning, match=wanted):
        install(bad=[kernel_set(api=7)])


def test_a_package_of_another_series_is_refused_before_it_runs():
    def load():
        raise AssertionError

    registry = Registry()
    plugin = Plugin("simd", "autocalc-kernels-simd", "9.8.7")
    wanted = (
        r"kernels: simd \(autocalc-kernels-simd 9\.8\.7\) is not used: version "
        r"9\.8\.7 does not fit autocalc-core \S+\. Run: pip install --upgrade "
        r'"autocalc-core==9\.8\.\*" "autocalc-kernels-simd==9\.8\.\*"$'
    )
    with pytest.warns(PluginWarning, match=wanted):
        registry.add_plugin(plugin, load)
    assert registry.sets == {}


def test_a_name_that_is_taken_is_refused_naming_both(install):
    with pytest.warns(PluginWarning, match="the name is taken by first_plugin"):
        registry = install(first=[kernel_set()], second=[kernel_set(rank=999)])
    assert refusal(registry, "mine of second_plugin").origin == "second_plugin"
    assert registry.sets["mine"].rank == 150
    with pytest.warns(PluginWarning, match="taken by autocalc-core"):
        install(mine=[kernel_set("reference")])


def test_a_missing_cpu_feature_is_no_fault(install):
    registry = install(mine=[kernel_set(requires={"avx1024", "sse2"})])
    found = refusal(registry, "mine")
    assert "the CPU lacks avx1024" in found.reason
    assert not found.fault
    assert "avx1024" in ac.kernels.show().missing
    message = "'mine' cannot be used here: mine is refused: the CPU lacks avx1024"
    with pytest.raises(ConfigError, match=message):
        ac.kernels.use("mine")
    assert works()


def test_a_set_that_fails_to_load(install):
    def load():
        raise OSError("libfoo.so: cannot open")

    install(mine=[kernel_set(load=load)])
    with pytest.warns(PluginWarning, match=r"load.. failed: OSError: libfoo.so"):
        assert works()
    assert works()  # without another warning
    assert "mine" not in ac.kernels.available()
    with pytest.raises(ConfigError, match=r"libfoo.so"):
        ac.kernels.use("mine")


def test_a_set_that_would_end_the_process_when_it_loads(install):
    def load():
        raise SystemExit("no licence found")

    install(mine=[kernel_set(load=load)])
    with pytest.warns(PluginWarning, match=r"load.. failed: SystemExit: no licence"):
        assert works()


def test_an_interrupt_stops_the_loading(install):
    """Whoever presses Ctrl-C means the program, not the package it is just loading."""
    with pytest.raises(KeyboardInterrupt):
        install(mine=KeyboardInterrupt())

    def load():
        raise KeyboardInterrupt

    install(mine=[kernel_set(load=load)])
    with pytest.raises(KeyboardInterrupt):
        works()


def test_a_set_that_lacks_a_library_says_so_without_a_warning(install):
    def load():
        raise PluginError("no libfoo here; pip install foo")

    registry = install(mine=[kernel_set(load=load)])
    assert works()
    assert refusal(registry, "mine").reason == "no libfoo here; pip install foo"


def test_what_load_offers_is_checked_one_by_one(install):
    offers = {
        "add": add,
        "mul": 3,
        "frobnicate": add,
        "sub": KernelImpl(add, rank=999),
        "neg": KernelImpl(add, exception="hasty"),
        "conv": KernelImpl(add, exception="hasty"),
    }
    registry = install(mine=[kernel_set(load=lambda: offers)])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert works()
    reasons = {r.subject: r.reason for r in registry.refusals}
    assert reasons == {
        "mine: mul": "3 is neither a function nor a KernelImpl",
        "mine: frobnicate": "no kernel of this name is in the kernel table",
        "mine: sub": "its rank 999 exceeds the set's rank 150",
        "mine: neg": (
            "its `exception` 'hasty' is no error budget of this kernel; known: none"
        ),
        "mine: conv": (
            "its `exception` 'hasty' is no error budget of this kernel; "
            "known: bfloat16, winograd"
        ),
    }
    assert len(caught) == 5
    assert set(registry.kernels("mine")) == {"add"}
    assert set_that_ran() == "mine"


def test_load_that_returns_nonsense(install):
    install(mine=[kernel_set(load=lambda: 5)])
    with pytest.warns(PluginWarning, match=r"load.. failed: TypeError"):
        assert works()


def test_a_supports_that_raises_has_refused(install):
    def supports(key):
        raise ZeroDivisionError("ouch")

    install(mine=[kernel_set(load=lambda: {"add": KernelImpl(add, supports=supports)})])
    assert works()
    assert set_that_ran() == "reference"
    line = str(ac.kernels.explain("add", ac.ones(1), ac.ones(1)))
    assert "refused: its supports() raised ZeroDivisionError: ouch" in line


def test_a_report_survives_a_set_that_cannot_describe_itself(install):
    def info():
        raise RuntimeError("no idea")

    install(mine=[kernel_set(info=info)])
    assert "info: failed: RuntimeError: no idea" in str(ac.kernels.show())


def test_disabled_sets(install, environment):
    environment(AUTOCALC_DISABLE_KERNELS="mine,reference")
    registry = install(mine=[kernel_set("mine-a"), kernel_set("mine-b")])
    assert {r.subject for r in registry.refusals} == {"mine-a", "mine-b"}
    assert "disabled by AUTOCALC_DISABLE_KERNELS" in registry.refusals[0].reason
    assert works()  # the reference cannot be disabled


def test_a_disabled_name_that_no_set_bears_is_reported(install, environment):
    environment(AUTOCALC_DISABLE_KERNELS="mine-a, simmd, mine")
    message = (
        r"AUTOCALC_DISABLE_KERNELS names 'simmd', which is not a kernel set or family "
        r"and has no effect; did you mean 'simd'\?"
    )
    sets = [kernel_set("mine-a"), kernel_set("simd-x", family="simd")]
    with pytest.warns(ConfigWarning, match=message) as caught:
        registry = install(mine=sets)
    assert len(caught) == 1
    assert [r.subject for r in registry.refusals] == ["mine-a"]


def test_hidden_features(install, environment):
    from tests.dispatcher import detected_features

    feature = min(detected_features())
    environment(AUTOCALC_CPU_FEATURES=f"-{feature}")
    registry = install(mine=[kernel_set(requires={feature})])
    assert f"{feature} hidden by AUTOCALC_CPU_FEATURES" in registry.refusals[0].reason
    assert feature in ac.kernels.show().hidden


def test_the_package_is_named_with_its_version():
    from tests.dispatcher import registry

    assert str(registry().plugins[0]) == f"autocalc-core {ac.__version__}"
    assert ac.plugin.include_dir().joinpath("autocalc_kernel.h").is_file()
