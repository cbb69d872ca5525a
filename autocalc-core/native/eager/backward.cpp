// SPDX-License-Identifier: MIT
//
// The backward pass over arrays: `Walk.run` of core's `_graph/_walk.py`, with what it
// calls for each node and edge.  The pass's own data are used, so that everything rare
// (parts of arrays, hooks, sums that wait) is left to its methods.
#include <algorithm>

#include "eager/calls.hpp"

namespace autocalc::python::eager {
namespace {

enum Memory { borrowed, fresh, owned, parts };

// What core hands over once: classes, functions and constants.
struct Pass : Kind {
    Ref partial, freed, check_saved, arrays;
    Ref rule_in_float32;  // of cotangents in half precision
    Ref add, add_into;    // of arrays
    Ref heappush, heappop;
    Ref memory[4], rule;

    void read(const py::args& args) {
        read_fields(args, partial, freed, check_saved, arrays, rule_in_float32);
        const auto of = [](py::handle object, const char* name) {
            return Ref(py::object(object.attr(name)).release().ptr());
        };
        const py::module_ heapq = py::module_::import("heapq");
        add = of(arrays.get(), "plus");
        add_into = of(arrays.get(), "add_into");
        heappush = of(heapq, "heappush");
        heappop = of(heapq, "heappop");
        for (int i = 0; i < 4; ++i) memory[i] = Ref(PyLong_FromLong(i));
        rule = Ref(PyUnicode_InternFromString("rule"));
    }
};

bool is_view(PyObject* array) {
    if (Py_TYPE(array) != bound.ndarray) return true;
    PyObject* base = fields(array)->base;
    return base != nullptr && PyObject_TypeCheck(base, bound.ndarray);
}

// A pass that runs, on the data of core's.
class Running {
  public:
    Running(const Pass& k, PyObject* pass)
        : k_(k),
          pass_(pass),
          heap_(Ref::borrow(slot(pass, bound.pass_heap))),
          reached_(Ref::borrow(slot(pass, bound.pass_reached))),
          leaves_(Ref::borrow(slot(pass, bound.pass_leaves))) {}

    PyObject* leaves() const { return leaves_.get(); }

    bool start(PyObject* root, PyObject* cotangent) {
        return add(root, cotangent, borrowed);
    }

    bool run() {
        while (PyList_GET_SIZE(heap_.get()) > 0) {
            if (PyErr_CheckSignals() < 0 || !step()) return false;
        }
        return true;
    }

  private:
    template <class... Args>
    Ref method(const char* name, Args... given) const {
        const Ref text(PyUnicode_FromString(name));
        PyObject* args[] = {pass_, given...};
        if (!text) return {};
        return Ref(
            PyObject_VectorcallMethod(text.get(), args, 1 + sizeof...(given), nullptr));
    }

    bool step() {
        PyObject* heap = heap_.get();
        Ref newest(PyObject_Vectorcall(k_.heappop.get(), &heap, 1, nullptr));
        Ref serial(newest ? PyNumber_Negative(newest.get()) : nullptr);
        if (!serial) return false;
        Ref arrived =
            Ref::borrow(PyDict_GetItemWithError(reached_.get(), serial.get()));
        if (!arrived || PyDict_DelItem(reached_.get(), serial.get()) < 0) return false;
        Ref node = Ref::borrow(PyList_GET_ITEM(arrived.get(), 0));
        if (slot(pass_, bound.pass_parted) != bound.zero &&
            !method("join_all", arrived.get())) {
            return false;
        }
        if (slot(node.get(), bound.hooks) != Py_None &&
            !method("run_hooks", node.get(), arrived.get())) {
            return false;
        }
        return visit(node.get(), arrived.get());
    }

    // Leaves it to core to raise.
    bool check_saved(PyObject* node) {
        PyObject* saved = slot(node, bound.saved);
        bool changed = saved == k_.freed.get();
        PyObject* versions = slot(node, bound.versions);
        const Py_ssize_t count = changed ? 0 : PyTuple_GET_SIZE(versions);
        for (Py_ssize_t i = 0; i < count && !changed; i += 2) {
            PyObject* cell = PyTuple_GET_ITEM(versions, i);
            if (cell == Py_None) continue;
            const int same = PyObject_RichCompareBool(
                slot(cell, bound.count), PyTuple_GET_ITEM(versions, i + 1), Py_EQ);
            if (same < 0) return false;
            changed = same == 0;
        }
        if (!changed) return true;
        Ref result(PyObject_CallOneArg(k_.check_saved.get(), node));
        return static_cast<bool>(result);
    }

    // The cotangents that arrived: one, or a tuple with one for each output.
    static Ref cotangent_of(PyObject* arrived) {
        const Py_ssize_t size = PyList_GET_SIZE(arrived);
        if (size == 3) return Ref::borrow(PyList_GET_ITEM(arrived, 1));
        Ref all(PyTuple_New((size - 1) / 2));
        for (Py_ssize_t i = 1; all && i < size; i += 2) {
            PyTuple_SET_ITEM(all.get(), i / 2,
                             Ref::borrow(PyList_GET_ITEM(arrived, i)).release());
        }
        return all;
    }

    // Whether a cotangent, or the first of several, is of half precision.
    static bool has_halves(PyObject* g) {
        PyObject* first = g;
        for (Py_ssize_t i = 0; PyTuple_CheckExact(g) && i < PyTuple_GET_SIZE(g); ++i) {
            first = PyTuple_GET_ITEM(g, i);
            if (first != Py_None) break;
        }
        return Py_TYPE(first) == bound.ndarray && is_half(fields(first));
    }

    bool visit(PyObject* node, PyObject* arrived) {
        PyObject* saved = slot(node, bound.saved);
        const bool has_saved = saved != bound.nothing && (!PyTuple_CheckExact(saved) ||
                                                          PyTuple_GET_SIZE(saved) > 0);
        if (has_saved && !check_saved(node)) return false;
        Ref g = cotangent_of(arrived);
        if (!g) return false;
        Ref rule = has_halves(g.get())
                       ? Ref::borrow(k_.rule_in_float32.get())
                       : Ref(PyObject_GetAttr(slot(node, bound.op), k_.rule.get()));
        if (!rule) return false;
        PyObject* args[] = {k_.arrays.get(), node, g.get()};
        Ref results(PyObject_Vectorcall(rule.get(), args, 3, nullptr));
        if (!results) return false;
        if (!PyTuple_CheckExact(results.get())) {
            results = Ref(PyTuple_Pack(1, results.get()));
            if (!results) return false;
        }
        if (!hand_on(node, arrived, g.get(), results.get())) return false;
        if (has_saved && slot(pass_, bound.pass_keep) == Py_False) {
            set_slot(node, bound.saved, Ref::borrow(k_.freed.get()).release());
        }
        return true;
    }

    bool hand_on(PyObject* node, PyObject* arrived, PyObject* g, PyObject* results) {
        Ref edges = Ref::borrow(slot(node, bound.edges));
        const Py_ssize_t count = PyTuple_GET_SIZE(edges.get());
        const bool single = PyList_GET_SIZE(arrived) == 3;
        for (Py_ssize_t i = 0; i < count; ++i) {
            PyObject* edge = PyTuple_GET_ITEM(edges.get(), i);
            if (i >= PyTuple_GET_SIZE(results)) {
                PyErr_SetString(PyExc_IndexError, "tuple index out of range");
                return false;
            }
            PyObject* result = PyTuple_GET_ITEM(results, i);
            if (edge == Py_None || result == Py_None) continue;
            if (reinterpret_cast<PyObject*>(Py_TYPE(result)) == k_.partial.get()) {
                PyObject* shape = PyTuple_GET_ITEM(slot(node, bound.shapes), i);
                if (!method("add_part", edge, result, shape, arrived)) return false;
                continue;
            }
            PyObject* const* first = &PyTuple_GET_ITEM(results, 0);
            const bool own =
                is_new(result, g, single) &&
                std::count(first, first + PyTuple_GET_SIZE(results), result) == 1;
            if (!add(edge, result, own ? fresh : borrowed)) return false;
        }
        return true;
    }

    static bool is_new(PyObject* result, PyObject* g, bool single) {
        if (single) return result != g;
        PyObject* const* first = &PyTuple_GET_ITEM(g, 0);
        return std::count(first, first + PyTuple_GET_SIZE(g), result) == 0;
    }

    // ---- sums

    Ref entry(PyObject* edge, PyObject* value, Memory memory) const {
        Ref list(PyList_New(3));
        if (!list) return list;
        PyList_SET_ITEM(list.get(), 0, Ref::borrow(edge).release());
        PyList_SET_ITEM(list.get(), 1, Ref::borrow(value).release());
        PyList_SET_ITEM(list.get(), 2, Ref::borrow(k_.memory[memory].get()).release());
        return list;
    }

    bool push(PyObject* serial) {
        Ref negative(PyNumber_Negative(serial));
        if (!negative) return false;
        PyObject* args[] = {heap_.get(), negative.get()};
        return eager::run(k_.heappush.get(), args, 2);
    }

    // Where the cotangent for an edge is summed; a null list with `done` set where the
    // value was put there as the first.
    Ref place(PyObject* edge, PyObject* value, Memory memory, Py_ssize_t* at,
              bool* done) {
        *at = 1;
        const bool is_node = Py_TYPE(edge) == bound.node;
        if (is_node || Py_TYPE(edge) == bound.leaf) {
            PyObject* all = is_node ? reached_.get() : leaves_.get();
            PyObject* key = is_node ? slot(edge, bound.serial) : edge;
            PyObject* found = PyDict_GetItemWithError(all, key);
            if (found != nullptr) return Ref::borrow(found);
            Ref first = PyErr_Occurred() ? Ref() : entry(edge, value, memory);
            *done = first && PyDict_SetItem(all, key, first.get()) == 0 &&
                    (!is_node || push(key));
            return {};
        }
        const Ref pair = method("place", edge);
        if (!pair) return {};
        *at = PyLong_AsSsize_t(PyTuple_GET_ITEM(pair.get(), 1));
        return Ref::borrow(PyTuple_GET_ITEM(pair.get(), 0));
    }

    bool is_own(PyObject* array, PyObject* memory) const {
        if (memory == k_.memory[owned].get()) return true;
        return memory == k_.memory[fresh].get() && !is_view(array);
    }

    bool add(PyObject* edge, PyObject* value, Memory memory) {
        Py_ssize_t at;
        bool done = false;
        Ref arrived = place(edge, value, memory, &at, &done);
        if (!arrived) return done;
        const auto set = [&arrived](Py_ssize_t i, PyObject* owned_object) {
            return PyList_SetItem(arrived.get(), i, owned_object) == 0;
        };
        const auto mark = [&](Memory kind) {
            return set(at + 1, Ref::borrow(k_.memory[kind].get()).release());
        };
        if (PyList_GET_ITEM(arrived.get(), at) == Py_None) {
            return set(at, Ref::borrow(value).release()) && mark(memory);
        }
        if (PyList_GET_ITEM(arrived.get(), at + 1) == k_.memory[parts].get()) {
            Ref index(PyLong_FromSsize_t(at));
            if (!index || !method("join", arrived.get(), index.get())) {
                return false;
            }
        }
        Ref total = Ref::borrow(PyList_GET_ITEM(arrived.get(), at));
        PyObject* known = PyList_GET_ITEM(arrived.get(), at + 1);
        PyObject* args[] = {total.get(), value};
        PyObject* function = k_.add_into.get();
        if (!is_own(total.get(), known)) {
            if (memory == fresh && !is_view(value)) {
                args[0] = value;
                args[1] = total.get();
            } else {
                function = k_.add.get();
            }
        }
        PyObject* sum = PyObject_Vectorcall(function, args, 2, nullptr);
        return sum != nullptr && set(at, sum) && mark(owned);
    }

    const Pass& k_;
    PyObject* pass_;
    Ref heap_, reached_, leaves_;
};

bool is_empty_sequence(PyObject* x) {
    return (PyTuple_Check(x) || PyList_Check(x)) && PySequence_Fast_GET_SIZE(x) == 0;
}

// Whether a pass is one over arrays that visits all nodes.
bool is_plain(const Pass& k, PyObject* pass) {
    return Py_TYPE(pass) == bound.pass && slot(pass, bound.pass_needed) == Py_None &&
           slot(pass, bound.pass_saved) == Py_None &&
           slot(pass, bound.pass_k) == k.arrays.get();
}

// `Walk.run(self, roots, cotangents, capture=())`
PyObject* call_pass(PyObject* self, PyObject* const* args, std::size_t nargsf,
                    PyObject* keywords) {
    const Pass& k = kind_of<Pass>(self);
    const Py_ssize_t count = PyVectorcall_NARGS(nargsf);
    if (bound.paused || keywords != nullptr || count < 3 || count > 4 ||
        (count == 4 && !is_empty_sequence(args[3])) || !is_plain(k, args[0])) {
        return define(self, args, nargsf, keywords);
    }
    Running running(k, args[0]);
    Ref roots(PySequence_Fast(args[1], "run: roots must be a sequence"));
    Ref cotangents(PySequence_Fast(args[2], "run: cotangents must be a sequence"));
    if (!roots || !cotangents) return nullptr;
    const Py_ssize_t n = PySequence_Fast_GET_SIZE(roots.get());
    if (n != PySequence_Fast_GET_SIZE(cotangents.get()))
        return define(self, args, nargsf, keywords);
    for (Py_ssize_t i = 0; i < n; ++i) {
        if (!running.start(PySequence_Fast_GET_ITEM(roots.get(), i),
                           PySequence_Fast_GET_ITEM(cotangents.get(), i))) {
            return nullptr;
        }
    }
    return running.run() ? new_none() : nullptr;
}

// ---- Tensor.backward

struct Backward : Kind {
    Ref pass;  // the callable of a `Pass`
    Ref copy, deliver;
    Ref like;  // a pass of core's that is plain and keeps nothing

    void read(const py::args& args) { read_fields(args, pass, copy, deliver, like); }

    // A pass that has not begun; null with an exception set.
    Ref new_pass() const {
        Ref made(bound.pass->tp_alloc(bound.pass, 0));
        if (!made) return made;
        for (const Py_ssize_t one :
             {bound.pass_k, bound.pass_keep, bound.pass_needed, bound.pass_saved,
              bound.pass_hooked, bound.pass_deliver, bound.pass_parted}) {
            slot(made.get(), one) = Py_NewRef(slot(like.get(), one));
        }
        slot(made.get(), bound.pass_heap) = PyList_New(0);
        for (const Py_ssize_t one :
             {bound.pass_reached, bound.pass_leaves, bound.pass_captured}) {
            slot(made.get(), one) = PyDict_New();
        }
        return PyErr_Occurred() ? Ref() : std::move(made);
    }
};

// Gradients are not recorded while it lives, nor does autocast choose dtypes.
class NoGrad {
  public:
    explicit NoGrad(const Context& context) {
        if (!context.grad() && !context.casts()) return;
        Ref state(bound.state->tp_alloc(bound.state, 0));
        if (!state) return;
        slot(state.get(), bound.autocast) = Ref::borrow(Py_None).release();
        slot(state.get(), bound.grad) = Ref::borrow(Py_False).release();
        slot(state.get(), bound.selection) = Ref::borrow(context.selection()).release();
        token_ = Ref(PyContextVar_Set(bound.state_variable, state.get()));
    }
    NoGrad(const NoGrad&) = delete;
    NoGrad& operator=(const NoGrad&) = delete;
    ~NoGrad() {
        if (!token_) return;
        PyObject *type, *value, *trace;
        PyErr_Fetch(&type, &value, &trace);
        PyContextVar_Reset(bound.state_variable, token_.get());
        PyErr_Restore(type, value, trace);
    }

  private:
    Ref token_;
};

// The cotangent: that which is given, or 1 for a tensor without dimensions; null
// without an exception for the definition.
Ref seed_of(PyObject* y, PyObject* given) {
    PyObject* array = array_of(y);
    if (array == nullptr || slot(y, bound.edge) == Py_None) return {};
    const Array* a = fields(array);
    if (given != Py_None) {
        PyObject* cotangent = array_of(given);
        if (cotangent == nullptr) return {};
        const Array* g = fields(cotangent);
        bool same = g->descr == a->descr && g->nd == a->nd;
        for (int d = 0; same && d < a->nd; ++d)
            same = g->dimensions[d] == a->dimensions[d];
        return same ? Ref::borrow(cotangent) : Ref();
    }
    const Ref one(a->nd == 0 ? PyLong_FromLong(1) : nullptr);
    return one && is_wide_float(a) ? number_of(one.get(), a->descr) : Ref();
}

bool is_empty(PyObject* hooks) {
    return hooks == Py_None || (PyDict_Check(hooks) && PyDict_GET_SIZE(hooks) == 0);
}

// Adds what has arrived at a leaf to its `grad`: `_deliver` of core's `_gradients.py`.
bool deliver(const Backward& k, PyObject* leaf, PyObject* entry) {
    PyObject* value = PyList_GET_ITEM(entry, 1);
    PyObject* memory = PyList_GET_ITEM(entry, 2);
    PyObject* held = slot(leaf, bound.leaf_grad);
    const bool first = held == Py_None;
    PyObject* total = first ? nullptr : array_of(held);
    // Other arrays may be those of several examples that share the leaf.
    const bool plain =
        Py_TYPE(value) == bound.ndarray && is_empty(slot(leaf, bound.leaf_hooks)) &&
        is_empty(slot(leaf, bound.leaf_accumulated)) &&
        (first || (total != nullptr && slot(held, bound.edge) == Py_None));
    if (!plain) {
        PyObject* args[] = {leaf, value, memory};
        return run(k.deliver.get(), args, 3);
    }
    if (first) {
        const bool own = memory != bound.zero && !is_view(value);
        Ref array =
            own ? Ref::borrow(value) : Ref(PyObject_CallOneArg(k.copy.get(), value));
        PyObject* gradient = new_tensor(std::move(array));
        if (gradient != nullptr) set_slot(leaf, bound.leaf_grad, gradient);
        return gradient != nullptr;
    }
    const Ref gradient = Ref::borrow(held), sum = Ref::borrow(total);
    PyObject* args[] = {sum.get(), value};
    return run(kind_of<Pass>(k.pass.get()).add_into.get(), args, 2) &&
           bump(gradient.get());
}

// Tensor.backward(self, gradient=None), where nothing else is asked for.
PyObject* call_backward(PyObject* self, PyObject* const* args, std::size_t nargsf,
                        PyObject* keywords) {
    const Backward& k = kind_of<Backward>(self);
    const Py_ssize_t count = PyVectorcall_NARGS(nargsf);
    Ref seed;
    if ((count == 1 || count == 2) && positional(keywords, nargsf, count) &&
        is_tensor(args[0])) {
        seed = seed_of(args[0], count == 2 ? args[1] : Py_None);
    }
    if (!seed) return define_or_raise(self, args, nargsf, keywords);
    const Context context;
    const Ref pass = k.new_pass();
    if (!context || !pass) return nullptr;
    Running running(kind_of<Pass>(k.pass.get()), pass.get());
    {
        const NoGrad scope(context);
        if (PyErr_Occurred() || !running.start(slot(args[0], bound.edge), seed.get()) ||
            !running.run()) {
            return nullptr;
        }
    }
    PyObject *leaf, *entry;
    Py_ssize_t at = 0;
    // Hooks may run another pass, but none that could change these leaves.
    while (PyDict_Next(running.leaves(), &at, &leaf, &entry)) {
        if (!deliver(k, leaf, entry)) return nullptr;
    }
    return new_none();
}

}  // namespace

void add_backward(py::module_& calls) {
    add_kind<Pass>(calls, "backward_pass", call_pass);
    add_kind<Backward>(calls, "backward", call_backward);
}

}  // namespace autocalc::python::eager
