// SPDX-License-Identifier: MIT
//
// The objects of AutoCalc's core as the accelerated calls see them: their classes, the
// places of their slots, and how tensors, nodes and version cells are made.
//
// Core hands its classes over with `bind`.  Nothing here defines what a call means: the
// Python function that a call stands for does (`callable.hpp`).
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#define NPY_TARGET_VERSION NPY_1_22_API_VERSION
#include <numpy/ndarraytypes.h>

#include <cstdint>

namespace autocalc::python::eager {

using Array = PyArrayObject_fields;

// A reference that is given back at the end of its scope.
class Ref {
  public:
    Ref() = default;
    explicit Ref(PyObject* owned) : object_(owned) {}
    Ref(Ref&& other) noexcept : object_(other.release()) {}
    Ref& operator=(Ref&& other) noexcept {
        if (this != &other) {
            PyObject* old = object_;
            object_ = other.release();
            Py_XDECREF(old);
        }
        return *this;
    }
    Ref(const Ref&) = delete;
    Ref& operator=(const Ref&) = delete;
    ~Ref() { Py_XDECREF(object_); }

    static Ref borrow(PyObject* object) {
        Py_XINCREF(object);
        return Ref(object);
    }
    PyObject* get() const { return object_; }
    PyObject* release() {
        PyObject* object = object_;
        object_ = nullptr;
        return object;
    }
    explicit operator bool() const { return object_ != nullptr; }

  private:
    PyObject* object_ = nullptr;
};

// Objects that are owned.  Only the part that is used is ever touched.
template <int capacity>
struct Objects {
    PyObject* at[capacity];
    int used = 0;

    Objects() = default;
    Objects(const Objects&) = delete;
    Objects& operator=(const Objects&) = delete;
    ~Objects() {
        while (used > 0) Py_XDECREF(at[--used]);
    }
    // Whether the object is there; else an exception is set.
    bool add(Ref object) {
        at[used] = object.release();
        return at[used++] != nullptr;
    }
};

// What core has bound.  Offsets are those of `__slots__`.
struct Bound {
    PyTypeObject* tensor;
    Py_ssize_t array, edge, version_cell, view;

    PyTypeObject* node;
    Py_ssize_t attributes, dtype, edges, hooks, op, saved, serial, shapes, versions;
    PyObject* serials;  // an iterator

    PyTypeObject* version;
    Py_ssize_t count;

    PyTypeObject* leaf;
    Py_ssize_t leaf_grad, leaf_hooks, leaf_accumulated;

    PyTypeObject* output;
    Py_ssize_t output_node, output_slot;

    PyTypeObject* pass;  // backward: core's `Walk`
    Py_ssize_t pass_k, pass_keep, pass_needed, pass_saved, pass_hooked, pass_deliver,
        pass_heap, pass_reached, pass_leaves, pass_captured, pass_parted;

    PyTypeObject* state;
    Py_ssize_t autocast, grad, selection;
    PyObject* state_variable;
    PyTypeObject* size;  // of shapes, a tuple
    PyObject* default_dtype;

    PyTypeObject* selected;  // the class of `selection`
    Py_ssize_t tables, empty, key_of, remembered;

    PyTypeObject* decomposed;

    PyTypeObject* tracker;  // of views
    Py_ssize_t tracker_limit, tracker_views;

    PyTypeObject *ndarray, *dtype_class;
    PyObject *own_empty, *own_key_of;  // the functions of this module
    PyObject* key_of_others;           // for arrays on devices, and for errors
    PyObject *zero, *nothing;          // 0 and ()

    PyTypeObject* generator;  // of random words
    Py_ssize_t seed_word, offset;

    // While lines are traced every call goes to its Python definition.
    bool paused;
};
extern Bound bound;

// Takes over what NumPy and this module have; false with an exception set.
bool prepare(PyObject* native);

// bind(name, class or object): false with an exception set.
bool bind(const char* name, PyObject* object);

// The offset of a name in a class's `__slots__`; -1 with an exception set.
Py_ssize_t offset_of(PyObject* type, const char* name);

inline PyObject*& slot(PyObject* object, Py_ssize_t offset) {
    return *reinterpret_cast<PyObject**>(reinterpret_cast<char*>(object) + offset);
}

// Puts an owned object into a slot that may hold another one.
inline void set_slot(PyObject* object, Py_ssize_t offset, PyObject* owned) {
    PyObject* old = slot(object, offset);
    slot(object, offset) = owned;
    Py_XDECREF(old);
}

inline PyObject* new_none() {
    Py_INCREF(Py_None);
    return Py_None;
}

// Whether a class is derived from `Tensor` and leaves its slots as they are.
bool is_plain_subclass(PyTypeObject* type);

inline bool is_tensor(PyObject* object) {
    PyTypeObject* type = Py_TYPE(object);
    return type == bound.tensor || is_plain_subclass(type);
}

// The array of a tensor, borrowed; null for anything else, without an exception.
inline PyObject* array_of(PyObject* tensor) {
    if (!is_tensor(tensor)) return nullptr;
    PyObject* array = slot(tensor, bound.array);
    return array != nullptr && Py_TYPE(array) == bound.ndarray ? array : nullptr;
}

inline const Array* fields(PyObject* array) {
    return reinterpret_cast<const Array*>(array);
}

// Float32 and float64, which have gradients and numbers next to them.
inline bool is_wide_float(const Array* a) {
    return a->descr->type_num == NPY_FLOAT || a->descr->type_num == NPY_DOUBLE;
}

// float16 and bfloat16: NumPy knows the latter as a dtype of an extension.
inline bool is_half(const Array* a) {
    return a->descr->type_num == NPY_HALF || a->descr->kind == 'V';
}

inline PyObject* dtype_of(const Array* a) {
    return reinterpret_cast<PyObject*>(a->descr);
}

// Tuples of objects and of integers; null with an exception set.
Ref tuple_of(PyObject* const* objects, Py_ssize_t count);
Ref tuple_of_integers(const npy_intp* values, int count);

PyObject* shape_of(const Array* a);

// The shapes of arrays, () for None.
Ref shapes_of(PyObject* const* arrays, Py_ssize_t count);

// Shapes of two arrays; one tuple where they are equal.
Ref two_shapes(const Array* a, const Array* b);

// A tensor around an array, without a history unless `edge` is given.
PyObject* new_tensor(Ref array, Ref edge = Ref());

// A view of `x`, recorded if so: its steps are (operator, attributes, shape).
PyObject* new_view_by_steps(PyObject* x, Ref array, PyObject* steps, bool grad);

// The version cell of a tensor, borrowed; made at the first call.
PyObject* version_of(PyObject* tensor);
PyObject* new_version();

// Counts a write to the storage, if it is shared.
bool bump(PyObject* x);

PyObject* new_node(PyObject* op, Ref edges, Ref saved, Ref versions, Ref shapes,
                   PyObject* dtype, Ref attributes);

// The running context: whether gradients are recorded, and which kernels run.
class Context {
  public:
    Context();
    explicit operator bool() const { return static_cast<bool>(state_); }
    bool grad() const { return slot(state_.get(), bound.grad) == Py_True; }
    // Whether operators may cast their operands, by the context `autocast`.
    bool casts() const { return slot(state_.get(), bound.autocast) != Py_None; }
    PyObject* selection() const { return slot(state_.get(), bound.selection); }
    // The decision under `key`, owned; null without an exception where there is none.
    Ref decision(Py_ssize_t kernel, PyObject* key) const;
    // A new array for a result.
    Ref empty(PyObject* dtype, int nd, const npy_intp* dims) const;
    Ref empty(PyObject* dtype, PyObject* shape) const;
    // The dtypes, shapes and strides of operands as one value.
    Ref key_of(PyObject* const* operands, Py_ssize_t count) const;

  private:
    Ref state_;
};

}  // namespace autocalc::python::eager
