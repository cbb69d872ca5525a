// SPDX-License-Identifier: MIT
//
// Whether slots and dicts hold the very objects that they held: `Unchanged` of core's
// `_compile/_unchanged.py`.
#include <algorithm>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "eager/calls.hpp"

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

// Reads a list of tuples; false without an exception where one is for the definition.
template <class One>
bool read_all(PyObject* list, std::vector<One>* to) {
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
        to->emplace_back();
        if (!to->back().read(PyList_GET_ITEM(list, i))) return false;
    }
    return true;
}

class Unchanged {
  public:
    bool read(PyObject* args) {
        PyObject *slots, *dicts;
        return PyArg_ParseTuple(args, "O!O!", &PyList_Type, &slots, &PyList_Type,
                                &dicts) != 0 &&
               read_all(slots, &slots_) && read_all(dicts, &dicts_);
    }

    bool holds() const {
        const auto same = [](const auto& one) { return one.holds(); };
        return std::all_of(slots_.begin(), slots_.end(), same) &&
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
        return 0;
    }

  private:
    std::vector<Slot> slots_;
    std::vector<Copied> dicts_;
};

// ---- the object

struct Object {
    PyObject_HEAD Unchanged* state;
};

PyTypeObject type = {};

Unchanged*& state_of(PyObject* self) { return reinterpret_cast<Object*>(self)->state; }

int traverse(PyObject* self, visitproc visit, void* arg) {
    const Unchanged* state = state_of(self);
    return state == nullptr ? 0 : state->traverse(visit, arg);
}

int clear(PyObject* self) {
    const std::unique_ptr<Unchanged> gone(std::exchange(state_of(self), nullptr));
    return 0;
}

void deallocate(PyObject* self) {
    PyObject_GC_UnTrack(self);
    clear(self);
    Py_TYPE(self)->tp_free(self);
}

// False after `clear`, which finalizers may see.
PyObject* holds(PyObject* self, PyObject*) {
    const Unchanged* state = state_of(self);
    return PyBool_FromLong(static_cast<long>(state != nullptr && state->holds()));
}

PyMethodDef methods[] = {{"holds", holds, METH_NOARGS, nullptr},
                         {nullptr, nullptr, 0, nullptr}};

bool is_ready() {
    if (type.tp_name != nullptr) return true;
    Py_SET_REFCNT(reinterpret_cast<PyObject*>(&type), 1);
    type.tp_basicsize = sizeof(Object);
    type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC;
    type.tp_dealloc = deallocate;
    type.tp_traverse = traverse;
    type.tp_clear = clear;
    type.tp_methods = methods;
    type.tp_name = "autocalc.unchanged";
    return PyType_Ready(&type) == 0;
}

PyObject* construct(PyObject* definition, PyObject* args) {
    try {
        auto state = std::make_unique<Unchanged>();
        if (!state->read(args)) {
            return PyErr_Occurred() ? nullptr : PyObject_CallObject(definition, args);
        }
        PyObject* self = type.tp_alloc(&type, 0);
        if (self != nullptr) state_of(self) = state.release();
        return self;
    } catch (const std::bad_alloc&) {
        return PyErr_NoMemory();
    }
}

PyMethodDef constructor = {"unchanged", construct, METH_VARARGS, nullptr};

PyObject* make_constructor(PyObject*, PyObject* args) {
    PyObject* definition;
    if (!PyArg_ParseTuple(args, "O", &definition) || !is_ready()) return nullptr;
    return PyCFunction_New(&constructor, definition);
}

}  // namespace

PyMethodDef unchanged_calls[] = {{"unchanged", make_constructor, METH_VARARGS, nullptr},
                                 {nullptr, nullptr, 0, nullptr}};

}  // namespace autocalc::python::eager
