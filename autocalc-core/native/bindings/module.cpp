// SPDX-License-Identifier: MIT
//
// The extension module `autocalc._native`: thread pool, allocator, programs, and the
// submodule `eager` with the calls of operators.
#include "eager/module.hpp"

#include <cstring>

#include "eager/arrays.hpp"
#include "eager/objects.hpp"
#include "memory/allocator.hpp"
#include "pool/phases.hpp"
#include "pool/pool.hpp"
#include "pool/record.hpp"
#include "program/executor.hpp"

namespace autocalc::python {
namespace {

PyObject* none() { Py_RETURN_NONE; }

PyObject* set_num_threads(PyObject*, PyObject* count) {
    int threads;
    if (!PyArg_Parse(count, "i:set_num_threads", &threads)) return nullptr;
    runtime::set_num_threads(threads);
    return none();
}

PyObject* num_threads(PyObject*, PyObject*) {
    return PyLong_FromLong(runtime::num_threads());
}

PyObject* set_team_limit(PyObject*, PyObject* count) {
    int threads;
    if (!PyArg_Parse(count, "i:set_team_limit", &threads)) return nullptr;
    runtime::set_team_limit(threads);
    return none();
}

PyObject* record_jobs(PyObject*, PyObject* count) {
    int threads;
    if (!PyArg_Parse(count, "i:record_jobs", &threads)) return nullptr;
    runtime::record_jobs(threads);
    return none();
}

PyObject* job_record(const runtime::JobRecord& job) {
    eager::Ref parts(PyList_New(0));
    if (!parts) return nullptr;
    for (const std::uint64_t ns : job.runs_ns) {
        eager::Ref value(PyLong_FromUnsignedLongLong(ns));
        if (!value || PyList_Append(parts.get(), value.get()) < 0) return nullptr;
    }
    return Py_BuildValue("LOK", static_cast<long long>(job.tasks), parts.get(),
                         static_cast<unsigned long long>(job.passed_ns));
}

PyObject* job_records(PyObject*, PyObject*) {
    eager::Ref records(PyList_New(0));
    if (!records) return nullptr;
    for (const runtime::JobRecord& job : runtime::job_records()) {
        eager::Ref record(job_record(job));
        if (!record || PyList_Append(records.get(), record.get()) < 0) return nullptr;
    }
    return records.release();
}

PyObject* hand_off_ns(PyObject*, PyObject* count) {
    int jobs;
    if (!PyArg_Parse(count, "i:hand_off_ns", &jobs)) return nullptr;
    return PyLong_FromUnsignedLongLong(runtime::hand_off_ns(jobs));
}

PyObject* measure_waiting(PyObject*, PyObject* on) {
    const int truth = PyObject_IsTrue(on);
    if (truth < 0) return nullptr;
    runtime::measure_waiting(truth != 0);
    return none();
}

PyObject* measure_phases(PyObject*, PyObject* on) {
    const int truth = PyObject_IsTrue(on);
    if (truth < 0) return nullptr;
    runtime::measure_phases(truth != 0);
    return none();
}

using Count = unsigned long long;

bool add_phase(PyObject* phases, int phase, Count spent) {
    if (spent == 0) return true;
    eager::Ref value(PyLong_FromUnsignedLongLong(spent));
    return value &&
           PyDict_SetItemString(phases, runtime::phase_name(phase), value.get()) == 0;
}

// Bytes: the cheapest object, which the garbage collector does not look at. A profile
// keeps two for each call of a kernel, and to make one costs the caches little.
PyObject* read_clock(PyObject*, PyObject*) {
    const runtime::Reading now = runtime::read_clock();
    return PyBytes_FromStringAndSize(reinterpret_cast<const char*>(&now), sizeof now);
}

bool is_reading(PyObject* object, runtime::Reading* reading) {
    if (!PyBytes_Check(object) || PyBytes_GET_SIZE(object) != sizeof *reading) {
        PyErr_Format(PyExc_TypeError,
                     "clock_between: a %s is given, but a reading of read_clock is "
                     "needed",
                     Py_TYPE(object)->tp_name);
        return false;
    }
    std::memcpy(reading, PyBytes_AS_STRING(object), sizeof *reading);
    return true;
}

PyObject* clock_between(PyObject*, PyObject* const* args, Py_ssize_t count) {
    runtime::Reading begin, end;
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "clock_between takes two readings");
        return nullptr;
    }
    if (!is_reading(args[0], &begin) || !is_reading(args[1], &end)) return nullptr;
    std::uint64_t spent[AC_PHASE_COUNT];
    runtime::phases_between(begin, end, spent);
    eager::Ref phases(PyDict_New());
    if (!phases) return nullptr;
    for (int i = AC_PHASE_NONE + 1; i < AC_PHASE_COUNT; ++i) {
        if (i != AC_PHASE_EPILOGUE && !add_phase(phases.get(), i, spent[i]))
            return nullptr;
    }
    // In the order in which they come.
    if (!add_phase(phases.get(), AC_PHASE_EPILOGUE, spent[AC_PHASE_EPILOGUE]))
        return nullptr;
    return Py_BuildValue("KKKLO", Count{begin.nanoseconds}, Count{end.nanoseconds},
                         Count{end.waited - begin.waited},
                         static_cast<long long>(end.helped - begin.helped),
                         phases.get());
}

PyObject* stats(PyObject*, PyObject*) {
    const runtime::AllocatorStats now = runtime::allocator_stats();
    return Py_BuildValue("{s:K,s:K,s:K,s:K,s:K,s:K,s:K}",        //
                         "in_use", Count{now.in_use},            //
                         "peak", Count{now.peak},                //
                         "cached", Count{now.cached},            //
                         "blocks", Count{now.blocks},            //
                         "allocations", Count{now.allocations},  //
                         "reused", Count{now.reused},            //
                         "workspace", Count{now.workspace});
}

PyObject* trim(PyObject*, PyObject*) {
    return PyLong_FromUnsignedLongLong(runtime::trim());
}

PyObject* reset_peak(PyObject*, PyObject*) {
    runtime::reset_peak();
    return none();
}

PyObject* set_cache_limit(PyObject*, PyObject* bytes) {
    const Count limit = PyLong_AsUnsignedLongLong(bytes);
    if (PyErr_Occurred() != nullptr) return nullptr;
    runtime::set_cache_limit(limit);
    return none();
}

PyMethodDef methods[] = {
    {"set_num_threads", set_num_threads, METH_O,
     "set_num_threads($module, count, /)\n--\n\nSet how many threads a job may use."},
    {"num_threads", num_threads, METH_NOARGS,
     "num_threads($module, /)\n--\n\nReturn how many threads a job may use."},
    {"set_team_limit", set_team_limit, METH_O,
     "set_team_limit($module, threads, /)\n--\n\nLet so many threads work at most; 0: "
     "as many as there are processors."},
    {"record_jobs", record_jobs, METH_O,
     "record_jobs($module, threads, /)\n--\n\nRecord jobs as those of so many threads, "
     "one run after another; 0: no more."},
    {"job_records", job_records, METH_NOARGS,
     "job_records($module, /)\n--\n\nWhat was recorded of each job: its tasks, "
     "nanoseconds of each part, and from beginning to end."},
    {"hand_off_ns", hand_off_ns, METH_O,
     "hand_off_ns($module, jobs, /)\n--\n\nReturn how long an empty job takes, the "
     "median of so many."},
    {"measure_waiting", measure_waiting, METH_O,
     "measure_waiting($module, on, /)\n--\n\nTime the threads of jobs from now on."},
    {"measure_phases", measure_phases, METH_O,
     "measure_phases($module, on, /)\n--\n\nTime the phases of kernels from now on."},
    {"read_clock", read_clock, METH_NOARGS,
     "read_clock($module, /)\n--\n\n"
     "Return the time, and what threads have waited and worked on while it was "
     "measured, for clock_between."},
    {"clock_between",
     reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(clock_between)),
     METH_FASTCALL,
     "clock_between($module, begin, end, /)\n--\n\n"
     "Return of two readings their times; between them, what threads of measured jobs "
     "waited and worked beyond the time that these took, and what all threads spent in "
     "each phase; all in nanoseconds."},
    {"stats", stats, METH_NOARGS,
     "stats($module, /)\n--\n\nCounters of the allocator, in bytes and blocks."},
    {"trim", trim, METH_NOARGS,
     "trim($module, /)\n--\n\nGive cached blocks back; return the bytes."},
    {"reset_peak", reset_peak, METH_NOARGS,
     "reset_peak($module, /)\n--\n\nLet the peak be what is in use."},
    {"set_cache_limit", set_cache_limit, METH_O,
     "set_cache_limit($module, bytes, /)\n--\n\nSet how much is kept of what is "
     "freed."},
    {nullptr, nullptr, 0, nullptr}};

PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    "_native",
    "Core's engine: thread pool, allocator, programs and calls of operators.",
    -1,
    methods,
    nullptr,
    nullptr,
    nullptr,
    nullptr};

// The submodule, which can be imported by its full name, too.
bool add_submodule(PyObject* native) {
    eager::Ref name(PyUnicode_FromFormat("%s.eager", PyModule_GetName(native)));
    if (!name) return false;
    PyObject* module = PyImport_AddModuleObject(name.get());  // borrowed
    if (module == nullptr ||
        PyModule_SetDocString(module, "Calls of AutoCalc's core, in C.") < 0 ||
        !eager::add_eager(native, module)) {
        return false;
    }
    Py_INCREF(module);
    if (PyModule_AddObject(native, "eager", module) == 0) return true;
    Py_DECREF(module);
    return false;
}

// What kernel packages ask for: the pool and the scratch memory, as a context.
const ac_engine engine = {sizeof engine, AC_KERNEL_API_VERSION,
                          runtime::kernel_context};

bool add_engine(PyObject* module) {
    PyObject* capsule = PyCapsule_New(const_cast<ac_engine*>(&engine),
                                      AC_PYTHON_ENGINE_CAPSULE, nullptr);
    if (capsule == nullptr) return false;
    if (PyModule_AddObject(module, AC_PYTHON_ENGINE, capsule) == 0) return true;
    Py_DECREF(capsule);
    return false;
}

bool add_parts(PyObject* module) {
    return add_engine(module) && add_arrays(module) && replay::add_executor(module) &&
           add_submodule(module);
}

}  // namespace
}  // namespace autocalc::python

// Python asks for this name.
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming)
PyMODINIT_FUNC PyInit__native() {
    PyObject* module = PyModule_Create(&autocalc::python::definition);
    if (module != nullptr && !autocalc::python::add_parts(module)) Py_CLEAR(module);
    return module;
}
