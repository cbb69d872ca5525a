// SPDX-License-Identifier: MIT
#include "bindings/parts.hpp"
#include "memory/allocator.hpp"

namespace py = pybind11;

namespace autocalc::python {
namespace {

py::dict stats() {
    const runtime::AllocatorStats now = runtime::allocator_stats();
    py::dict counters;
    counters["in_use"] = now.in_use;
    counters["peak"] = now.peak;
    counters["cached"] = now.cached;
    counters["blocks"] = now.blocks;
    counters["allocations"] = now.allocations;
    counters["reused"] = now.reused;
    counters["workspace"] = now.workspace;
    counters["peak_results"] = now.peak_results;
    return counters;
}

}  // namespace

void add_memory(py::module_& native) {
    native.def("stats", stats, "Counters of the allocator, in bytes and blocks.");
    native.def("trim", runtime::trim, "Give cached blocks back; return the bytes.");
    native.def("reset_peak", runtime::reset_peak, "Let the peak be what is in use.");
    native.def("set_cache_limit", runtime::set_cache_limit,
               "Set how much is kept of what is freed.", py::arg("bytes"));
}

}  // namespace autocalc::python
