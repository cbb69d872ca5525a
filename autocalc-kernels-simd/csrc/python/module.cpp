// SPDX-License-Identifier: MIT
//
// The baseline extension module: thread pool, allocator, and the door to the kernel
// libraries.
#include "eager/module.hpp"

#include <pybind11/pybind11.h>

#include <utility>

#include "allocator.hpp"
#include "arrays.hpp"
#include "cpu.hpp"
#include "library.hpp"
#include "phases.hpp"
#include "pool.hpp"
#include "replay/executor.hpp"

namespace py = pybind11;

namespace {

py::dict stats() {
    const autocalc::runtime::AllocatorStats now = autocalc::runtime::allocator_stats();
    py::dict result;
    result["in_use"] = now.in_use;
    result["peak"] = now.peak;
    result["cached"] = now.cached;
    result["blocks"] = now.blocks;
    result["allocations"] = now.allocations;
    result["reused"] = now.reused;
    result["workspace"] = now.workspace;
    return result;
}

// None, or what jobs' threads helped and what phases took since the last call.
py::object take_phases() {
    static std::int64_t helped_before = 0;
    const std::int64_t now = autocalc::runtime::helped_ns();
    const std::int64_t helped = now - std::exchange(helped_before, now);
    std::uint64_t spent[AC_PHASE_COUNT];
    if (!autocalc::runtime::take_phases(spent)) return py::none();
    py::dict phases;
    const auto add = [&](int i) {
        if (spent[i] != 0) phases[autocalc::runtime::phase_name(i)] = spent[i];
    };
    for (int i = AC_PHASE_NONE + 1; i < AC_PHASE_COUNT; ++i) {
        if (i != AC_PHASE_EPILOGUE) add(i);
    }
    add(AC_PHASE_EPILOGUE);  // in the order in which they come
    return py::make_tuple(helped, phases);
}

py::dict load(const std::string& isa, const std::string& family) {
    PyObject* kernels = autocalc::python::load_kernels(isa, family);
    if (kernels == nullptr) throw py::error_already_set();
    return py::reinterpret_steal<py::dict>(kernels);
}

}  // namespace

PYBIND11_MODULE(_core, m) {
    m.doc() = "Thread pool, allocator, and the door to the kernel libraries.";
    if (!autocalc::python::add_arrays(m.ptr())) throw py::error_already_set();
    if (!autocalc::python::replay::add_executor(m.ptr())) {
        throw py::error_already_set();
    }
    py::module_ eager = m.def_submodule("eager", "Calls of AutoCalc's core, in C.");
    if (!autocalc::python::eager::add_eager(m.ptr(), eager.ptr())) {
        throw py::error_already_set();
    }
    m.def("load", &load, py::arg("isa"), py::arg("family") = "simd",
          "Open a library; return the kernels of one of its sets by name.");
    m.def("cpu_runs", &autocalc::runtime::cpu_runs, py::arg("isa"));
    m.def("set_num_threads", &autocalc::runtime::set_num_threads, py::arg("count"));
    m.def("num_threads", &autocalc::runtime::num_threads);
    m.def("measure_waiting", &autocalc::runtime::measure_waiting, py::arg("on"));
    m.def("waited_ns", &autocalc::runtime::waited_ns,
          "What threads of measured jobs have waited, in nanoseconds.");
    m.def("measure_phases", &autocalc::runtime::measure_phases, py::arg("on"));
    m.def("take_phases", &take_phases,
          "None, or what threads of measured jobs worked beyond the time that these "
          "took, and what they spent in each phase; since the last call, in "
          "nanoseconds.");
    m.def("stats", &stats, "Counters of the allocator, in bytes and blocks.");
    m.def("trim", &autocalc::runtime::trim,
          "Give cached blocks back; return the bytes.");
    m.def("reset_peak", &autocalc::runtime::reset_peak);
    m.def("set_cache_limit", &autocalc::runtime::set_cache_limit, py::arg("bytes"));
}
