// SPDX-License-Identifier: MIT
#include "pool/pool.hpp"

#include <cstdint>
#include <cstring>
#include <string>

#include "bindings/parts.hpp"
#include "pool/phases.hpp"
#include "pool/record.hpp"

namespace py = pybind11;

namespace autocalc::python {
namespace {

// Of each job its tasks, nanoseconds of each part, and from beginning to end.
py::list job_records() {
    py::list records;
    for (const runtime::JobRecord& job : runtime::job_records()) {
        py::list parts;
        for (const std::uint64_t ns : job.runs_ns) parts.append(ns);
        records.append(py::make_tuple(job.tasks, parts, job.passed_ns));
    }
    return records;
}

// Bytes: the cheapest object, which the garbage collector does not look at. A profile
// keeps two for each call of a kernel, and to make one costs the caches little.
PyObject* read_clock(PyObject*, PyObject*) {
    const runtime::Reading now = runtime::read_clock();
    return PyBytes_FromStringAndSize(reinterpret_cast<const char*>(&now), sizeof now);
}

// On the path of a profile's every call, and so without pybind11.
PyMethodDef clock[] = {{"read_clock", read_clock, METH_NOARGS,
                        "read_clock($module, /)\n--\n\n"
                        "Return the time, and what threads have waited and worked on "
                        "while it was measured, for clock_between."},
                       {nullptr, nullptr, 0, nullptr}};

runtime::Reading reading_of(const py::bytes& given) {
    const std::string held = given;
    runtime::Reading reading;
    if (held.size() != sizeof reading) {
        throw py::type_error(
            "clock_between: other bytes are given, but a reading of read_clock is "
            "needed");
    }
    std::memcpy(&reading, held.data(), sizeof reading);
    return reading;
}

// The names of phases and what they took, that of the epilogue last, as they come.
py::dict phases_between(const runtime::Reading& begin, const runtime::Reading& end) {
    std::uint64_t spent[AC_PHASE_COUNT];
    runtime::phases_between(begin, end, spent);
    py::dict phases;
    const auto add = [&](int phase) {
        if (spent[phase] != 0) phases[runtime::phase_name(phase)] = spent[phase];
    };
    for (int i = AC_PHASE_NONE + 1; i < AC_PHASE_COUNT; ++i) {
        if (i != AC_PHASE_EPILOGUE) add(i);
    }
    add(AC_PHASE_EPILOGUE);
    return phases;
}

py::tuple clock_between(const py::bytes& first, const py::bytes& second) {
    const runtime::Reading begin = reading_of(first), end = reading_of(second);
    return py::make_tuple(begin.nanoseconds, end.nanoseconds, end.waited - begin.waited,
                          end.helped - begin.helped, phases_between(begin, end));
}

}  // namespace

void add_pool(py::module_& native) {
    native.def("set_num_threads", runtime::set_num_threads,
               "Set how many threads a job may use.", py::arg("count"));
    native.def("num_threads", runtime::num_threads,
               "Return how many threads a job may use.");
    native.def("set_team_limit", runtime::set_team_limit,
               "Let so many threads work at most; 0: as many as there are processors.",
               py::arg("threads"));
    native.def(
        "record_jobs", runtime::record_jobs,
        "Record jobs as those of so many threads, one run after another; 0: no more.",
        py::arg("threads"));
    native.def("job_records", job_records,
               "Return of each recorded job its tasks, nanoseconds of each part, and "
               "from beginning to end.");
    native.def("hand_off_ns", runtime::hand_off_ns,
               "Return how long an empty job takes, the median of so many.",
               py::arg("jobs"));
    native.def("measure_waiting", runtime::measure_waiting,
               "Time the threads of jobs from now on.", py::arg("on"));
    native.def("measure_phases", runtime::measure_phases,
               "Time the phases of kernels from now on.", py::arg("on"));
    native.def(
        "clock_between", clock_between,
        "Return of two readings their times; between them, what threads of measured "
        "jobs waited and worked beyond the time that these took, and what all threads "
        "spent in each phase; all in nanoseconds.",
        py::arg("begin"), py::arg("end"));
    if (PyModule_AddFunctions(native.ptr(), clock) < 0) throw py::error_already_set();
}

}  // namespace autocalc::python
