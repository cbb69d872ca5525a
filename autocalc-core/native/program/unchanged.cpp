// SPDX-License-Identifier: MIT
//
// Whether slots, dicts and their entries hold the very objects that they held:
// `Unchanged` of core's `_compile/_unchanged.py`.
#include <algorithm>

#include "program/objects.hpp"

namespace autocalc::python::program {
namespace {

struct Attribute {
    py::object object, value;
    Py_ssize_t offset;

    bool holds() const { return eager::slot(object.ptr(), offset) == value.ptr(); }
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
};

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
        for (const py::handle one : args[1]) {
            auto [now, before] = one.cast<std::tuple<py::dict, py::dict>>();
            dicts_.push_back({now, before});
        }
        for (const py::handle one :
             args.size() > 2 ? args[2].cast<py::list>() : py::list()) {
            auto [dict, key, value] =
                one.cast<std::tuple<py::dict, py::object, py::object>>();
            entries_.push_back({dict, key, value});
        }
        return true;
    }

    bool holds() const {
        const auto same = [](const auto& one) { return one.holds(); };
        return std::all_of(slots_.begin(), slots_.end(), same) &&
               std::all_of(entries_.begin(), entries_.end(), same) &&
               std::all_of(dicts_.begin(), dicts_.end(), same);
    }

    int traverse(visitproc visit, void* arg) const {
        for (const Attribute& one : slots_) {
            Py_VISIT(one.object.ptr());
            Py_VISIT(one.value.ptr());
        }
        for (const Copied& one : dicts_) {
            Py_VISIT(one.now.ptr());
            Py_VISIT(one.before.ptr());
        }
        for (const Entry& one : entries_) {
            Py_VISIT(one.dict.ptr());
            Py_VISIT(one.key.ptr());
            Py_VISIT(one.value.ptr());
        }
        return 0;
    }

    void clear() { const Unchanged gone = std::exchange(*this, {}); }

  private:
    std::vector<Attribute> slots_;
    std::vector<Copied> dicts_;
    std::vector<Entry> entries_;
};

}  // namespace

void add_unchanged(py::module_& calls) {
    add_kind<Unchanged>(calls, "unchanged", "Unchanged")
        .def("holds", &Unchanged::holds);
}

}  // namespace autocalc::python::program
