// SPDX-License-Identifier: MIT
//
// Whether objects, dicts and lists hold the very objects that they held: `Unchanged` of
// core's `_compile/_unchanged.py`.
#include <algorithm>

#include "program/objects.hpp"

namespace autocalc::python::program {
namespace {

// `parts` of each kind are the objects that the garbage collector visits.
struct Slot {
    py::object object, value;
    Py_ssize_t offset;

    bool holds() const { return eager::slot(object.ptr(), offset) == value.ptr(); }
    auto parts() const { return std::tie(object, value); }
};

struct Copied {
    py::dict now, before;

    // Whether keys and values are the same objects in the same order.
    bool holds() const {
        if (now.size() != before.size()) return false;
        Py_ssize_t at = 0, place = 0;
        PyObject *key, *value, *old_key, *old_value;
        while (PyDict_Next(now.ptr(), &at, &key, &value) != 0) {
            if (PyDict_Next(before.ptr(), &place, &old_key, &old_value) == 0 ||
                key != old_key || value != old_value) {
                return false;
            }
        }
        return true;
    }
    auto parts() const { return std::tie(now, before); }
};

struct Entry {
    py::dict dict;
    py::object key, value;

    // A key that cannot be compared holds nothing; the definition says why.
    bool holds() const {
        PyObject* now = PyDict_GetItemWithError(dict.ptr(), key.ptr());
        if (now == nullptr) PyErr_Clear();
        return now == value.ptr();
    }
    auto parts() const { return std::tie(dict, key, value); }
};

struct CopiedList {
    py::list now, before;

    bool holds() const {
        const Py_ssize_t n = PyList_GET_SIZE(now.ptr());
        if (n != PyList_GET_SIZE(before.ptr())) return false;
        for (Py_ssize_t i = 0; i < n; ++i) {
            if (PyList_GET_ITEM(now.ptr(), i) != PyList_GET_ITEM(before.ptr(), i)) {
                return false;
            }
        }
        return true;
    }
    auto parts() const { return std::tie(now, before); }
};

struct OfClass {
    py::object object, kind;

    bool holds() const {
        return reinterpret_cast<PyObject*>(Py_TYPE(object.ptr())) == kind.ptr();
    }
    auto parts() const { return std::tie(object, kind); }
};

struct Attribute {
    py::object object, name, value;

    // One that is gone, as the content of an empty cell, holds nothing.
    bool holds() const {
        PyObject* now = PyObject_GetAttr(object.ptr(), name.ptr());
        if (now == nullptr) {
            if (PyErr_ExceptionMatches(PyExc_AttributeError) == 0 &&
                PyErr_ExceptionMatches(PyExc_ValueError) == 0) {
                throw py::error_already_set();
            }
            PyErr_Clear();
            return false;
        }
        Py_DECREF(now);
        return now == value.ptr();
    }
    auto parts() const { return std::tie(object, value); }
};

struct Absent {
    py::object mapping, key;

    bool holds() const {
        const int found = PySequence_Contains(mapping.ptr(), key.ptr());
        if (found < 0) throw py::error_already_set();
        return found == 0;
    }
    auto parts() const { return std::tie(mapping, key); }
};

template <class Kind>
bool all_hold(const std::vector<Kind>& all) {
    return std::all_of(all.begin(), all.end(),
                       [](const Kind& one) { return one.holds(); });
}

// Appends the tuples of an argument, if it was given.
template <class... Parts, class Kind>
void read_all(const py::tuple& args, size_t at, std::vector<Kind>& all) {
    if (at >= args.size()) return;
    for (const py::handle one : args[at]) {
        const auto parts = one.cast<std::tuple<Parts...>>();
        std::apply([&](const Parts&... part) { all.push_back(Kind{part...}); }, parts);
    }
}

class Unchanged {
  public:
    bool read(const py::tuple& args) {
        for (const py::handle one : args[0]) {
            auto [object, name, value] =
                one.cast<std::tuple<py::object, std::string, py::object>>();
            const Py_ssize_t offset =
                eager::offset_of(py::type::handle_of(object).ptr(), name.c_str());
            if (offset < 0) {  // it is not one of `__slots__`
                PyErr_Clear();
                return false;
            }
            slots_.push_back({object, value, offset});
        }
        read_all<py::dict, py::dict>(args, 1, dicts_);
        read_all<py::dict, py::object, py::object>(args, 2, entries_);
        read_all<py::list, py::list>(args, 3, lists_);
        read_all<py::object, py::object>(args, 4, classes_);
        read_all<py::object, py::object, py::object>(args, 5, attributes_);
        read_all<py::object, py::object>(args, 6, absent_);
        return true;
    }

    bool holds() const {
        return all_hold(slots_) && all_hold(classes_) && all_hold(entries_) &&
               all_hold(dicts_) && all_hold(lists_) && all_hold(attributes_) &&
               all_hold(absent_);
    }

    int traverse(visitproc visit, void* arg) const {
        int stop = 0;
        const auto visit_one = [&](const py::object& part) {
            if (stop == 0) stop = visit(part.ptr(), arg);
        };
        const auto visited = [&](const auto& all) {
            for (const auto& one : all) {
                std::apply([&](const auto&... part) { (visit_one(part), ...); },
                           one.parts());
            }
        };
        visited(slots_);
        visited(dicts_);
        visited(entries_);
        visited(lists_);
        visited(classes_);
        visited(attributes_);
        visited(absent_);
        return stop;
    }

    void clear() { const Unchanged gone = std::exchange(*this, {}); }

  private:
    std::vector<Slot> slots_;
    std::vector<Copied> dicts_;
    std::vector<Entry> entries_;
    std::vector<CopiedList> lists_;
    std::vector<OfClass> classes_;
    std::vector<Attribute> attributes_;
    std::vector<Absent> absent_;
};

}  // namespace

void add_unchanged(py::module_& calls) {
    add_kind<Unchanged>(calls, "unchanged", "Unchanged")
        .def("holds", &Unchanged::holds);
}

}  // namespace autocalc::python::program
