// SPDX-License-Identifier: MIT
//
// What a replay does around its kernels: `Bookkeeping` of core's
// `_compile/_bookkeeping.py`, for programs of the executor of this module.
#include <algorithm>
#include <utility>
#include <vector>

#include "program/executor.hpp"
#include "program/holder.hpp"

namespace autocalc::python::eager {
namespace {

using replay::Layout;
using replay::Program;
using replay::Slot;

// Whose memory a slot is.
struct Owner {
    Py_ssize_t number = -1;  // of an argument
    Ref object;              // a tensor, or the leaf whose gradient it is
    bool is_leaf = false;

    // False without an exception: it is left to the definition.
    bool read(PyObject* given) {
        if (PyLong_CheckExact(given)) {
            number = PyLong_AsSsize_t(given);
            return number >= 0;
        }
        is_leaf = Py_TYPE(given) == bound.leaf;
        object = Ref::borrow(given);
        return is_leaf || is_tensor(given);
    }

    // Borrowed; null without an exception for a gradient that is not there, and for an
    // argument where none are given.
    PyObject* tensor(PyObject* tensors) const {
        if (number >= 0)
            return tensors == nullptr ? nullptr : PyList_GET_ITEM(tensors, number);
        if (!is_leaf) return object.get();
        PyObject* grad = slot(object.get(), bound.leaf_grad);
        return grad == Py_None ? nullptr : grad;
    }
};

// The array of any tensor; null with an exception set.
Ref any_array_of(PyObject* tensor) {
    PyObject* array = array_of(tensor);
    if (array != nullptr) return Ref::borrow(array);
    Ref found(PyObject_GetAttrString(tensor, "_array"));
    if (found && !PyObject_TypeCheck(found.get(), bound.ndarray)) {
        PyErr_Format(PyExc_TypeError, "replay: a tensor holds a %s",
                     Py_TYPE(found.get())->tp_name);
        return {};
    }
    return found;
}

// Whether two arrays have the same layout; -1 with an exception set.
int alike(PyObject* x, PyObject* y) {
    const Array *a = fields(x), *b = fields(y);
    if (a->nd != b->nd ||
        !std::equal(a->dimensions, a->dimensions + a->nd, b->dimensions) ||
        !std::equal(a->strides, a->strides + a->nd, b->strides)) {
        return 0;
    }
    if (a->descr == b->descr) return 1;
    return PyObject_RichCompareBool(dtype_of(a), dtype_of(b), Py_EQ);
}

struct Follower {
    Slot* place = nullptr;
    Owner owner;
    std::intptr_t offset = 0;
    Ref recorded;  // null for arguments
};

struct Gradient {
    Ref leaf;
    Layout layout;
};

// One piece of memory for a result, and the gradients in it.
struct Room {
    Ref root;
    Py_ssize_t references = 0;  // to the root, from here and the executor
    std::vector<Ref> tensors;

    bool is_free(const std::vector<Gradient>& gradients) const {
        for (std::size_t i = 0; i < tensors.size(); ++i) {
            PyObject* tensor = tensors[i].get();
            const bool given = slot(gradients[i].leaf.get(), bound.leaf_grad) == tensor;
            if (Py_REFCNT(tensor) > 1 + static_cast<int>(given)) return false;
            if (Py_REFCNT(slot(tensor, bound.array)) > 1) return false;
        }
        return Py_REFCNT(root.get()) <=
               references + static_cast<Py_ssize_t>(tensors.size());
    }
};

struct Result {
    Slot* place = nullptr;
    Py_ssize_t bytes = 0;
    std::vector<Gradient> gradients;
    Room room, spare;
};

// A leaf of what the function returns: an argument, an object, a copy of an array, or
// a view of a slot.
struct Leaf {
    Py_ssize_t number = -1;
    Ref object;
    bool is_copied = false;
    Slot* place = nullptr;
    Layout layout;
};

bool read_sizes(PyObject* tuple, std::vector<std::intptr_t>* to) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); ++i) {
        to->push_back(PyLong_AsSsize_t(PyTuple_GET_ITEM(tuple, i)));
        if (to->back() == -1 && PyErr_Occurred()) return false;
    }
    return true;
}

// Reads a `View` of core's `_program/_memory.py`.
bool read_view(PyObject* view, Program& program, Slot** place, Layout* layout) {
    Py_ssize_t number, offset;
    PyObject *shape, *strides, *dtype;
    if (!PyArg_ParseTuple(view, "nnO!O!O!", &number, &offset, &PyTuple_Type, &shape,
                          &PyTuple_Type, &strides, bound.dtype_class, &dtype)) {
        return false;
    }
    *place = program.find(number);
    layout->offset = offset;
    layout->dtype = Ref::borrow(dtype);
    return *place != nullptr && read_sizes(shape, &layout->shape) &&
           read_sizes(strides, &layout->strides);
}

class Bookkeeping {
  public:
    // What `Bookkeeping` is given, in order; false without an exception: it is left to
    // the definition.
    bool read(PyObject* args);

    int holds() const;
    // A list of leaves; null with an exception set.
    PyObject* run(PyObject* tensors);

    int traverse(visitproc visit, void* arg) const;

  private:
    bool read_follower(PyObject* given);
    bool read_result(PyObject* given);
    bool read_leaf(PyObject* given);
    bool covers(PyObject* tensors) const;
    bool follow(PyObject* tensors);
    bool renew_results();
    bool renew(Result& result);
    static bool give(Result& result);
    bool bump_written(PyObject* tensors) const;
    void hand_over() const;
    PyObject* make_leaves(PyObject* tensors) const;
    static Ref make_leaf(const Leaf& leaf, PyObject* tensors);

    Ref executor_, empty_, byte_;
    Program* program_ = nullptr;
    std::vector<Follower> followers_;
    std::vector<Result> results_;
    std::vector<Owner> written_;
    std::vector<Leaf> leaves_;
    Py_ssize_t arguments_ = 0;
    bool begun_ = false;
};

// ---- what it is given

bool Bookkeeping::read(PyObject* args) {
    PyObject *executor, *empty, *places, *followers, *results, *written, *leaves;
    if (!PyArg_ParseTuple(args, "OOOO!O!O!O!", &executor, &empty, &places, &PyList_Type,
                          &followers, &PyList_Type, &results, &PyList_Type, &written,
                          &PyList_Type, &leaves)) {
        return false;
    }
    program_ = replay::program_of(executor);
    if (program_ == nullptr) return false;
    executor_ = Ref::borrow(executor);
    empty_ = Ref::borrow(empty);
    const Ref numpy(PyImport_ImportModule("numpy"));
    if (!numpy) return false;
    byte_ = Ref(PyObject_CallMethod(numpy.get(), "dtype", "s", "uint8"));
    bool fits = static_cast<bool>(byte_);
    for (Py_ssize_t i = 0; fits && i < PyList_GET_SIZE(followers); ++i)
        fits = read_follower(PyList_GET_ITEM(followers, i));
    for (Py_ssize_t i = 0; fits && i < PyList_GET_SIZE(results); ++i)
        fits = read_result(PyList_GET_ITEM(results, i));
    for (Py_ssize_t i = 0; fits && i < PyList_GET_SIZE(written); ++i) {
        written_.emplace_back();
        fits = written_.back().read(PyList_GET_ITEM(written, i));
        arguments_ = std::max(arguments_, written_.back().number + 1);
    }
    for (Py_ssize_t i = 0; fits && i < PyList_GET_SIZE(leaves); ++i)
        fits = read_leaf(PyList_GET_ITEM(leaves, i));
    return fits;
}

bool Bookkeeping::read_follower(PyObject* given) {
    Py_ssize_t number, offset;
    PyObject *owner, *array;
    if (!PyArg_ParseTuple(given, "nOnO", &number, &owner, &offset, &array)) {
        return false;
    }
    Follower follower;
    follower.place = program_->find(number);
    follower.offset = offset;
    if (array != Py_None) follower.recorded = Ref::borrow(array);
    if (follower.place == nullptr || !follower.owner.read(owner)) return false;
    arguments_ = std::max(arguments_, follower.owner.number + 1);
    followers_.push_back(std::move(follower));
    return true;
}

bool Bookkeeping::read_result(PyObject* given) {
    Py_ssize_t number;
    PyObject *root, *gradients;
    Result result;
    if (!PyArg_ParseTuple(given, "nnO!O!", &number, &result.bytes, bound.ndarray, &root,
                          &PyList_Type, &gradients)) {
        return false;
    }
    result.place = program_->find(number);
    if (result.place == nullptr) return false;
    result.room.root = Ref::borrow(root);
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(gradients); ++i) {
        PyObject *leaf, *view;
        Slot* same;
        Gradient gradient;
        if (!PyArg_ParseTuple(PyList_GET_ITEM(gradients, i), "O!O!", bound.leaf, &leaf,
                              &PyTuple_Type, &view) ||
            !read_view(view, *program_, &same, &gradient.layout)) {
            return false;
        }
        gradient.leaf = Ref::borrow(leaf);
        result.gradients.push_back(std::move(gradient));
    }
    results_.push_back(std::move(result));
    return true;
}

bool Bookkeeping::read_leaf(PyObject* given) {
    Leaf leaf;
    if (PyLong_CheckExact(given)) {
        leaf.number = PyLong_AsSsize_t(given);
        if (leaf.number < 0) return false;
        arguments_ = std::max(arguments_, leaf.number + 1);
    } else if (Py_TYPE(given) == bound.ndarray) {
        leaf.object = Ref::borrow(given);
        leaf.is_copied = true;
    } else if (PyTuple_Check(given) && PyTuple_GET_SIZE(given) == 1) {
        leaf.object = Ref::borrow(PyTuple_GET_ITEM(given, 0));
    } else if (!PyTuple_Check(given) ||
               !read_view(given, *program_, &leaf.place, &leaf.layout)) {
        return false;
    }
    leaves_.push_back(std::move(leaf));
    return true;
}

// ---- a replay

int Bookkeeping::holds() const {
    for (const Follower& follower : followers_) {
        if (!follower.recorded) continue;
        PyObject* tensor = follower.owner.tensor(nullptr);
        if (tensor == nullptr) return 0;
        const Ref now = any_array_of(tensor);
        if (!now) return -1;
        if (now.get() == follower.recorded.get()) continue;
        const int same = alike(now.get(), follower.recorded.get());
        if (same <= 0) return same;
    }
    return 1;
}

bool Bookkeeping::covers(PyObject* tensors) const {
    if (PyList_Check(tensors) && PyList_GET_SIZE(tensors) >= arguments_) return true;
    PyErr_Format(PyExc_TypeError, "replay: a list of %zd tensors is needed",
                 arguments_);
    return false;
}

PyObject* Bookkeeping::run(PyObject* tensors) {
    if (!covers(tensors)) return nullptr;
    const Program::Turn turn(*program_);
    if (!turn || !follow(tensors) || !renew_results() || !bump_written(tensors) ||
        !program_->run()) {
        return nullptr;
    }
    hand_over();
    return make_leaves(tensors);
}

// Lets the program use the memory that tensors have now.
bool Bookkeeping::follow(PyObject* tensors) {
    for (Follower& follower : followers_) {
        PyObject* tensor = follower.owner.tensor(tensors);
        if (tensor == nullptr) {
            PyErr_SetString(PyExc_RuntimeError, "replay: a gradient is not there");
            return false;
        }
        Ref now = any_array_of(tensor);
        if (!now) return false;
        if (follower.recorded ? now.get() == follower.recorded.get()
                              : now.get() == follower.place->root.get()) {
            continue;
        }
        if (!Program::move(*follower.place, now.get(), -follower.offset)) return false;
        if (follower.recorded) follower.recorded = std::move(now);
    }
    return true;
}

bool Bookkeeping::renew_results() {
    if (!begun_) {  // now nothing else holds the memory
        begun_ = true;
        for (Result& result : results_) {
            result.room.references = Py_REFCNT(result.room.root.get());
            if (!give(result)) return false;
        }
    }
    return std::all_of(results_.begin(), results_.end(), [this](Result& result) {
        return result.room.is_free(result.gradients) || renew(result);
    });
}

// Gives a slot other memory: the last run's content is still referenced.
bool Bookkeeping::renew(Result& result) {
    Room room = std::move(result.spare);
    result.spare = Room();
    if (!room.root || !room.is_free({})) {
        room = Room();
        const Ref bytes(PyLong_FromSsize_t(result.bytes));
        const Ref shape(bytes ? PyTuple_Pack(1, bytes.get()) : nullptr);
        if (!shape) return false;
        PyObject* args[] = {shape.get(), byte_.get()};
        room.root = Ref(PyObject_Vectorcall(empty_.get(), args, 2, nullptr));
        if (!room.root) return false;
    }
    PyObject* root = room.root.get();
    const Py_ssize_t alone = Py_REFCNT(root);
    if (!Program::move(*result.place, root, 0)) return false;
    const Py_ssize_t more = Py_REFCNT(root) - alone;
    room.references = alone + more;
    Room before = std::move(result.room);
    before.references -= more;
    result.room = std::move(room);
    // A copy in reserve is what eager code has as well, whose caller holds the last
    // result while it computes the next; gradients would take as much again.
    if (result.gradients.empty()) result.spare = std::move(before);
    return give(result);
}

// Makes the tensors that the leaves get.
bool Bookkeeping::give(Result& result) {
    result.room.tensors.clear();
    for (const Gradient& gradient : result.gradients) {
        Ref tensor(new_tensor(
            gradient.layout.in(result.place->root.get(), result.place->offset)));
        if (!tensor) return false;
        result.room.tensors.push_back(std::move(tensor));
    }
    return true;
}

bool Bookkeeping::bump_written(PyObject* tensors) const {
    return std::all_of(written_.begin(), written_.end(), [tensors](const Owner& owner) {
        PyObject* tensor = owner.tensor(tensors);
        if (tensor == nullptr || is_tensor(tensor)) {
            return tensor == nullptr || bump(tensor);
        }
        const Ref done(PyObject_CallMethod(tensor, "_bump", nullptr));
        return static_cast<bool>(done);
    });
}

void Bookkeeping::hand_over() const {
    for (const Result& result : results_) {
        for (std::size_t i = 0; i < result.gradients.size(); ++i) {
            PyObject* leaf = result.gradients[i].leaf.get();
            PyObject* tensor = result.room.tensors[i].get();
            if (slot(leaf, bound.leaf_grad) == tensor) continue;
            set_slot(leaf, bound.leaf_grad, Ref::borrow(tensor).release());
        }
    }
}

PyObject* Bookkeeping::make_leaves(PyObject* tensors) const {
    Ref list(PyList_New(static_cast<Py_ssize_t>(leaves_.size())));
    for (std::size_t i = 0; list && i < leaves_.size(); ++i) {
        Ref one = make_leaf(leaves_[i], tensors);
        if (!one) return nullptr;
        PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), one.release());
    }
    return list.release();
}

Ref Bookkeeping::make_leaf(const Leaf& leaf, PyObject* tensors) {
    if (leaf.number >= 0) return Ref::borrow(PyList_GET_ITEM(tensors, leaf.number));
    if (leaf.is_copied) {
        return Ref(
            new_tensor(Ref(PyObject_CallMethod(leaf.object.get(), "copy", nullptr))));
    }
    if (leaf.place == nullptr) return Ref::borrow(leaf.object.get());
    return Ref(new_tensor(leaf.layout.in(leaf.place->root.get(), leaf.place->offset)));
}

int Bookkeeping::traverse(visitproc visit, void* arg) const {
    Py_VISIT(executor_.get());
    Py_VISIT(empty_.get());
    for (const Follower& follower : followers_) Py_VISIT(follower.owner.object.get());
    for (const Owner& owner : written_) Py_VISIT(owner.object.get());
    for (const Leaf& leaf : leaves_) Py_VISIT(leaf.object.get());
    for (const Result& result : results_) {
        for (const Gradient& gradient : result.gradients) Py_VISIT(gradient.leaf.get());
        for (const Ref& tensor : result.room.tensors) Py_VISIT(tensor.get());
    }
    return 0;
}

// ---- the object

using Held = Holder<Bookkeeping>;

// Null with an exception set after `clear`, which finalizers may see.
Bookkeeping* live(PyObject* self) {
    Bookkeeping* state = Held::state_of(self);
    if (state == nullptr) {
        PyErr_SetString(PyExc_RuntimeError, "replay: its program is freed");
    }
    return state;
}

PyObject* holds(PyObject* self, PyObject*) {
    const Bookkeeping* state = live(self);
    const int truth = state == nullptr ? -1 : state->holds();
    return truth < 0 ? nullptr : PyBool_FromLong(truth);
}

PyObject* run(PyObject* self, PyObject* tensors) {
    Bookkeeping* state = live(self);
    return state == nullptr ? nullptr : state->run(tensors);
}

PyMethodDef methods[] = {{"holds", holds, METH_NOARGS, nullptr},
                         {"run", run, METH_O, nullptr},
                         {nullptr, nullptr, 0, nullptr}};

PyMethodDef constructor = {"bookkeeping", Held::construct, METH_VARARGS, nullptr};

PyObject* make_constructor(PyObject*, PyObject* args) {
    return Held::constructor_for(args, &constructor, "autocalc.bookkeeping", methods);
}

}  // namespace

PyMethodDef bookkeeping_calls[] = {
    {"bookkeeping", make_constructor, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace autocalc::python::eager
