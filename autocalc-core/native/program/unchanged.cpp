// SPDX-License-Identifier: MIT
//
// Whether slots, dicts and their entries hold the very objects that they held:
// `Unchanged` of core's `_compile/_unchanged.py`.
#include <algorithm>
#include <vector>

#include "program/holder.hpp"

namespace autocalc::python::eager {
namespace {

struct Slot {
    Ref object;
    Py_ssize_t offset = 0;
    Ref value;

    // False without an exception where the name is not one of `__slots__`.
    bool read(PyObject* given) {
        PyObject *thing, *held;
        const char* name;
        if (PyArg_ParseTuple(given, "OsO", &thing, &name, &held) == 0) return false;
        offset = offset_of(reinterpret_cast<PyObject*>(Py_TYPE(thing)), name);
        if (offset < 0) {
            PyErr_Clear();
            return false;
        }
        object = Ref::borrow(thing);
        value = Ref::borrow(held);
        return true;
    }
    bool holds() const { return slot(object.get(), offset) == value.get(); }
};

struct Copied {
    Ref now, before;

    bool read(PyObject* given) {
        PyObject *dict, *copy;
        if (PyArg_ParseTuple(given, "O!O!", &PyDict_Type, &dict, &PyDict_Type, &copy) ==
            0) {
            return false;
        }
        now = Ref::borrow(dict);
        before = Ref::borrow(copy);
        return true;
    }
    // Whether keys and values are the same objects in the same order.
    bool holds() const {
        if (PyDict_GET_SIZE(now.get()) != PyDict_GET_SIZE(before.get())) return false;
        Py_ssize_t at = 0, place = 0;
        PyObject *key, *value, *old_key, *old_value;
        while (PyDict_Next(now.get(), &at, &key, &value) != 0) {
            if (PyDict_Next(before.get(), &place, &old_key, &old_value) == 0 ||
                key != old_key || value != old_value) {
                return false;
            }
        }
        return true;
    }
};

struct Entry {
    Ref dict, key, value;

    bool read(PyObject* given) {
        PyObject *in, *name, *held;
        if (PyArg_ParseTuple(given, "O!OO", &PyDict_Type, &in, &name, &held) == 0)
            return false;
        dict = Ref::borrow(in);
        key = Ref::borrow(name);
        value = Ref::borrow(held);
        return true;
    }
    // A key that cannot be compared holds nothing; the definition says why.
    bool holds() const {
        PyObject* now = PyDict_GetItemWithError(dict.get(), key.get());
        if (now == nullptr) PyErr_Clear();
        return now == value.get();
    }
};

class Unchanged {
  public:
    bool read(PyObject* args) {
        PyObject *slots, *dicts, *entries = nullptr;
        return PyArg_ParseTuple(args, "O!O!|O!", &PyList_Type, &slots, &PyList_Type,
                                &dicts, &PyList_Type, &entries) != 0 &&
               read_all(slots, &slots_) && read_all(dicts, &dicts_) &&
               (entries == nullptr || read_all(entries, &entries_));
    }

    bool holds() const {
        const auto same = [](const auto& one) { return one.holds(); };
        return std::all_of(slots_.begin(), slots_.end(), same) &&
               std::all_of(entries_.begin(), entries_.end(), same) &&
               std::all_of(dicts_.begin(), dicts_.end(), same);
    }

    int traverse(visitproc visit, void* arg) const {
        for (const Slot& one : slots_) {
            Py_VISIT(one.object.get());
            Py_VISIT(one.value.get());
        }
        for (const Copied& one : dicts_) {
            Py_VISIT(one.now.get());
            Py_VISIT(one.before.get());
        }
        for (const Entry& one : entries_) {
            Py_VISIT(one.dict.get());
            Py_VISIT(one.key.get());
            Py_VISIT(one.value.get());
        }
        return 0;
    }

  private:
    std::vector<Slot> slots_;
    std::vector<Copied> dicts_;
    std::vector<Entry> entries_;
};

// ---- the object

using Held = Holder<Unchanged>;

// False after `clear`, which finalizers may see.
PyObject* holds(PyObject* self, PyObject*) {
    const Unchanged* state = Held::state_of(self);
    return PyBool_FromLong(static_cast<long>(state != nullptr && state->holds()));
}

PyMethodDef methods[] = {{"holds", holds, METH_NOARGS, nullptr},
                         {nullptr, nullptr, 0, nullptr}};

PyMethodDef constructor = {"unchanged", Held::construct, METH_VARARGS, nullptr};

PyObject* make_constructor(PyObject*, PyObject* args) {
    return Held::constructor_for(args, &constructor, "autocalc.unchanged", methods);
}

}  // namespace

PyMethodDef unchanged_calls[] = {{"unchanged", make_constructor, METH_VARARGS, nullptr},
                                 {nullptr, nullptr, 0, nullptr}};

}  // namespace autocalc::python::eager
