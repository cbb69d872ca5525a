// SPDX-License-Identifier: MIT
//
// What a replay does around its kernels: `Bookkeeping` of core's
// `_compile/_bookkeeping.py`, for programs of the executor of this module.
#include <algorithm>

#include "program/objects.hpp"

namespace autocalc::python::program {
namespace {

using eager::bound;
using eager::slot;

void check(bool done) {
    if (!done) throw py::error_already_set();
}

// Whose memory a slot is.
struct Owner {
    Py_ssize_t number = -1;  // of an argument
    Ref object;              // a tensor, or the leaf whose gradient it is
    bool is_leaf = false;

    // False: it is left to the definition.
    bool read(py::handle given) {
        if (PyLong_CheckExact(given.ptr())) {
            number = given.cast<Py_ssize_t>();
            return number >= 0;
        }
        is_leaf = Py_TYPE(given.ptr()) == bound.leaf;
        object = Ref::borrow(given.ptr());
        return is_leaf || eager::is_tensor(given.ptr());
    }

    // Borrowed; null for a gradient that is not there, and for an argument where none
    // are given.
    PyObject* tensor(PyObject* tensors) const {
        if (number >= 0)
            return tensors == nullptr ? nullptr : PyList_GET_ITEM(tensors, number);
        if (!is_leaf) return object.get();
        PyObject* grad = slot(object.get(), bound.leaf_grad);
        return grad == Py_None ? nullptr : grad;
    }
};

// The array of any tensor.
Ref any_array_of(PyObject* tensor) {
    PyObject* array = eager::array_of(tensor);
    if (array != nullptr) return Ref::borrow(array);
    Ref found(PyObject_GetAttrString(tensor, "_array"));
    check(static_cast<bool>(found));
    if (PyObject_TypeCheck(found.get(), bound.ndarray)) return found;
    throw py::type_error(std::string("replay: a tensor holds a ") +
                         Py_TYPE(found.get())->tp_name);
}

// Whether two arrays have the same layout.
bool alike(PyObject* x, PyObject* y) {
    const eager::Array *a = eager::fields(x), *b = eager::fields(y);
    return a->nd == b->nd &&
           std::equal(a->dimensions, a->dimensions + a->nd, b->dimensions) &&
           std::equal(a->strides, a->strides + a->nd, b->strides) &&
           (a->descr == b->descr ||
            py::handle(eager::dtype_of(a)).equal(py::handle(eager::dtype_of(b))));
}

struct Follower {
    Slot* place = nullptr;
    Owner owner;
    Py_ssize_t offset = 0;
    Ref recorded;  // null for arguments
};

struct Gradient {
    Ref leaf;
    View view;
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

struct ResultMemory {
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
    View view;
};

class Bookkeeping {
  public:
    // What `Bookkeeping` is given, in order.
    bool read(const py::tuple& args);

    bool holds() const;
    // The leaves of the result.
    py::list run(const py::list& tensors);

    int traverse(visitproc visit, void* arg) const;
    void clear() { const Bookkeeping gone = std::exchange(*this, {}); }

  private:
    View view_of(py::handle given, Slot** place) const;
    bool read_follower(py::handle given);
    bool read_result(py::handle given);
    bool read_written(py::handle given);
    bool read_leaf(py::handle given);
    void follow(PyObject* tensors);
    void renew_results();
    void renew(ResultMemory& result);
    static void give(ResultMemory& result);
    void bump_written(PyObject* tensors) const;
    void hand_over() const;
    static Ref make_leaf(const Leaf& leaf, PyObject* tensors);
    Program& program() const;

    py::object executor_, empty_, byte_;
    Program* program_ = nullptr;
    std::vector<Follower> followers_;
    std::vector<ResultMemory> results_;
    std::vector<Owner> written_;
    std::vector<Leaf> leaves_;
    Py_ssize_t arguments_ = 0;
    bool begun_ = false;
};

// ---- what it is given

bool Bookkeeping::read(const py::tuple& args) {
    executor_ = args[0];
    if (!py::isinstance<Program>(executor_)) return false;
    program_ = executor_.cast<Program*>();
    empty_ = args[1];
    byte_ = py::module_::import("numpy").attr("dtype")("uint8");
    const auto read_all = [&args, this](int i, bool (Bookkeeping::*read)(py::handle)) {
        const py::list all = args[static_cast<std::size_t>(i)];
        return std::all_of(all.begin(), all.end(),
                           [&](py::handle one) { return (this->*read)(one); });
    };
    return read_all(3, &Bookkeeping::read_follower) &&
           read_all(4, &Bookkeeping::read_result) &&
           read_all(5, &Bookkeeping::read_written) &&
           read_all(6, &Bookkeeping::read_leaf);
}

// Reads a `View` of core's `_program/_views.py`.
View Bookkeeping::view_of(py::handle given, Slot** place) const {
    auto [number, offset, shape, strides, dtype] =
        given.cast<std::tuple<Py_ssize_t, Py_ssize_t, std::vector<Py_ssize_t>,
                              std::vector<Py_ssize_t>, py::object>>();
    *place = &program_->find(number);
    return {ref(dtype), offset, shape, strides};
}

bool Bookkeeping::read_follower(py::handle given) {
    auto [number, owner, offset, array] =
        given.cast<std::tuple<Py_ssize_t, py::object, Py_ssize_t, py::object>>();
    Follower follower;
    follower.place = &program_->find(number);
    follower.offset = offset;
    if (!array.is_none()) follower.recorded = ref(array);
    if (!follower.owner.read(owner)) return false;
    arguments_ = std::max(arguments_, follower.owner.number + 1);
    followers_.push_back(std::move(follower));
    return true;
}

bool Bookkeeping::read_result(py::handle given) {
    auto [number, bytes, root, gradients] =
        given.cast<std::tuple<Py_ssize_t, Py_ssize_t, py::object, py::list>>();
    ResultMemory result;
    result.place = &program_->find(number);
    result.bytes = bytes;
    result.room.root = ref(root);
    for (const py::handle one : gradients) {
        auto [leaf, view] = one.cast<std::tuple<py::object, py::object>>();
        if (Py_TYPE(leaf.ptr()) != bound.leaf) return false;
        Slot* same;
        result.gradients.push_back({ref(leaf), view_of(view, &same)});
    }
    results_.push_back(std::move(result));
    return true;
}

bool Bookkeeping::read_written(py::handle given) {
    written_.emplace_back();
    if (!written_.back().read(given)) return false;
    arguments_ = std::max(arguments_, written_.back().number + 1);
    return true;
}

bool Bookkeeping::read_leaf(py::handle given) {
    Leaf leaf;
    if (PyLong_CheckExact(given.ptr())) {
        leaf.number = given.cast<Py_ssize_t>();
        arguments_ = std::max(arguments_, leaf.number + 1);
        if (leaf.number < 0) return false;
    } else if (Py_TYPE(given.ptr()) == bound.ndarray) {
        leaf.object = Ref::borrow(given.ptr());
        leaf.is_copied = true;
    } else if (py::len(given) == 1) {
        leaf.object = Ref::borrow(PyTuple_GET_ITEM(given.ptr(), 0));
    } else {
        leaf.view = view_of(given, &leaf.place);
    }
    leaves_.push_back(std::move(leaf));
    return true;
}

// ---- a replay

bool Bookkeeping::holds() const {
    program();
    return std::all_of(followers_.begin(), followers_.end(), [](const Follower& one) {
        if (!one.recorded) return true;
        PyObject* tensor = one.owner.tensor(nullptr);
        if (tensor == nullptr) return false;
        const Ref now = any_array_of(tensor);
        return now.get() == one.recorded.get() || alike(now.get(), one.recorded.get());
    });
}

// Null after `clear`, which finalizers may see.
Program& Bookkeeping::program() const {
    if (program_ != nullptr) return *program_;
    PyErr_SetString(PyExc_RuntimeError, "replay: its program is freed");
    throw py::error_already_set();
}

py::list Bookkeeping::run(const py::list& tensors) {
    if (PyList_GET_SIZE(tensors.ptr()) < arguments_) {
        throw py::type_error("replay: a list of " + std::to_string(arguments_) +
                             " tensors is needed");
    }
    const Program::Turn turn(program());
    follow(tensors.ptr());
    renew_results();
    bump_written(tensors.ptr());
    program_->run();
    hand_over();
    py::list made(leaves_.size());
    for (std::size_t i = 0; i < leaves_.size(); ++i) {
        Ref one = make_leaf(leaves_[i], tensors.ptr());
        check(static_cast<bool>(one));
        PyList_SET_ITEM(made.ptr(), static_cast<Py_ssize_t>(i), one.release());
    }
    return made;
}

// Lets the program use the memory that tensors have now.
void Bookkeeping::follow(PyObject* tensors) {
    for (Follower& follower : followers_) {
        PyObject* tensor = follower.owner.tensor(tensors);
        if (tensor == nullptr) {
            PyErr_SetString(PyExc_RuntimeError, "replay: a gradient is not there");
            throw py::error_already_set();
        }
        Ref now = any_array_of(tensor);
        if (now.get() == (follower.recorded ? follower.recorded.get()
                                            : follower.place->root.get())) {
            continue;
        }
        program_->move(*follower.place, now.get(), -follower.offset);
        if (follower.recorded) follower.recorded = std::move(now);
    }
}

void Bookkeeping::renew_results() {
    if (!begun_) {  // now nothing else holds the memory
        begun_ = true;
        for (ResultMemory& result : results_) {
            result.room.references = Py_REFCNT(result.room.root.get());
            give(result);
        }
    }
    for (ResultMemory& result : results_) {
        if (!result.room.is_free(result.gradients)) renew(result);
    }
}

// Gives a slot other memory: the last run's content is still referenced.
void Bookkeeping::renew(ResultMemory& result) {
    Room room = std::move(result.spare);
    result.spare = Room();
    if (!room.root || !room.is_free({})) {
        room = Room();
        room.root = ref(empty_(py::make_tuple(result.bytes), byte_));
    }
    PyObject* root = room.root.get();
    const Py_ssize_t alone = Py_REFCNT(root);
    program_->move(*result.place, root, 0);
    const Py_ssize_t more = Py_REFCNT(root) - alone;
    room.references = alone + more;
    Room before = std::move(result.room);
    before.references -= more;
    result.room = std::move(room);
    // A copy in reserve is what eager code has as well, whose caller holds the last
    // result while it computes the next; gradients would take as much again.
    if (result.gradients.empty()) result.spare = std::move(before);
    give(result);
}

// Makes the tensors that the leaves get.
void Bookkeeping::give(ResultMemory& result) {
    result.room.tensors.clear();
    for (const Gradient& gradient : result.gradients) {
        const Slot& place = *result.place;
        Ref tensor(eager::new_tensor(gradient.view.in(place.root.get(), place.offset)));
        check(static_cast<bool>(tensor));
        result.room.tensors.push_back(std::move(tensor));
    }
}

void Bookkeeping::bump_written(PyObject* tensors) const {
    for (const Owner& owner : written_) {
        PyObject* tensor = owner.tensor(tensors);
        if (tensor == nullptr) continue;
        if (eager::is_tensor(tensor)) {
            check(eager::bump(tensor));
        } else {
            py::handle(tensor).attr("_bump")();
        }
    }
}

void Bookkeeping::hand_over() const {
    for (const ResultMemory& result : results_) {
        for (std::size_t i = 0; i < result.gradients.size(); ++i) {
            PyObject* leaf = result.gradients[i].leaf.get();
            PyObject* tensor = result.room.tensors[i].get();
            if (slot(leaf, bound.leaf_grad) == tensor) continue;
            eager::set_slot(leaf, bound.leaf_grad, Py_NewRef(tensor));
        }
    }
}

// Null with an exception set.
Ref Bookkeeping::make_leaf(const Leaf& leaf, PyObject* tensors) {
    if (leaf.number >= 0) return Ref::borrow(PyList_GET_ITEM(tensors, leaf.number));
    if (leaf.is_copied) {
        return Ref(
            eager::new_tensor(ref(py::handle(leaf.object.get()).attr("copy")())));
    }
    if (leaf.place == nullptr) return Ref::borrow(leaf.object.get());
    return Ref(
        eager::new_tensor(leaf.view.in(leaf.place->root.get(), leaf.place->offset)));
}

int Bookkeeping::traverse(visitproc visit, void* arg) const {
    Py_VISIT(executor_.ptr());
    Py_VISIT(empty_.ptr());
    for (const Follower& follower : followers_) Py_VISIT(follower.owner.object.get());
    for (const Owner& owner : written_) Py_VISIT(owner.object.get());
    for (const Leaf& leaf : leaves_) Py_VISIT(leaf.object.get());
    for (const ResultMemory& result : results_) {
        for (const Gradient& gradient : result.gradients) Py_VISIT(gradient.leaf.get());
        for (const Ref& tensor : result.room.tensors) Py_VISIT(tensor.get());
    }
    return 0;
}

}  // namespace

void add_bookkeeping(py::module_& calls) {
    add_kind<Bookkeeping>(calls, "bookkeeping", "Bookkeeping")
        .def("holds", &Bookkeeping::holds)
        .def("run", &Bookkeeping::run);
}

void add_executor(py::module_& native) {
    check(prepare_calls() == 0);
    py::class_<Program>(native, "Executor", "A program bound to memory.",
                        py::is_final(), collected<Program>())
        .def(py::init<const py::sequence&, const py::dict&>(), py::arg("calls"),
             py::arg("places"))
        .def(
            "move",
            [](Program& program, Py_ssize_t slot, const py::object& root,
               Py_ssize_t offset) {
                const Program::Turn turn(program);
                Slot& place = program.find(slot);
                if (PyObject_TypeCheck(root.ptr(), bound.ndarray) == 0) {
                    throw py::type_error(std::string("move: `root` is a ") +
                                         Py_TYPE(root.ptr())->tp_name +
                                         ", but an array is needed");
                }
                program.move(place, root.ptr(), offset);
            },
            "Let every call use the memory at `offset` bytes of `root` for a slot.",
            py::arg("slot"), py::arg("root"), py::arg("offset"))
        .def(
            "run",
            [](Program& program) {
                const Program::Turn turn(program);
                program.run();
            },
            "Run the program once.");
}

}  // namespace autocalc::python::program
