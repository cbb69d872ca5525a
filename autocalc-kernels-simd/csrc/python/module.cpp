// SPDX-License-Identifier: MIT
//
// The baseline extension module: thread pool, allocator, and the door to the kernel
// libraries.
#include "eager/module.hpp"

#include <pybind11/pybind11.h>

#include "allocator.hpp"
#include "arrays.hpp"
#include "cpu.hpp"
#include "library.hpp"
#include "pool.hpp"
#include "record.hpp"
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

// As (tasks, nanoseconds of each part, from beginning to end).
py::list job_records() {
    py::list records;
    for (const autocalc::runtime::JobRecord& job : autocalc::runtime::job_records()) {
        py::list parts;
        for (const std::uint64_t ns : job.runs_ns) parts.append(ns);
        records.append(py::make_tuple(job.tasks, parts, job.passed_ns));
    }
    return records;
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
    m.def("set_team_limit", &autocalc::runtime::set_team_limit, py::arg("threads"),
          "Let so many threads work at most; 0: as many as there are processors.");
    m.def(
        "record_jobs", &autocalc::runtime::record_jobs, py::arg("threads"),
        "Record jobs as those of so many threads, one run after another; 0: no more.");
    m.def("job_records", &job_records);
    m.def("hand_off_ns", &autocalc::runtime::hand_off_ns, py::arg("jobs"),
          "How long an empty job takes, the median of so many.");
    m.def("measure_waiting", &autocalc::runtime::measure_waiting, py::arg("on"));
    m.def("waited_ns", &autocalc::runtime::waited_ns,
          "What threads of measured jobs have waited, in nanoseconds.");
    m.def("stats", &stats, "Counters of the allocator, in bytes and blocks.");
    m.def("trim", &autocalc::runtime::trim,
          "Give cached blocks back; return the bytes.");
    m.def("reset_peak", &autocalc::runtime::reset_peak);
    m.def("set_cache_limit", &autocalc::runtime::set_cache_limit, py::arg("bytes"));
}
