// SPDX-License-Identifier: MIT
//
// The backward pass over arrays: `Walk.run` of core's `_graph/_walk.py`, with what it
// calls for each node and edge.  The pass's own data are used, so that everything rare
// (parts of arrays, hooks, sums that wait) is left to its methods.
#include "eager/calls.hpp"

namespace autocalc::python::eager {
namespace {

enum Memory { borrowed, fresh, owned, parts };

struct Names {
    PyObject *rule, *parted, *place, *join, *join_all, *run_hooks, *add_part, *heap,
        *reached, *leaves;

    bool make() {
        const auto intern = [](PyObject** to, const char* text) {
            *to = PyUnicode_InternFromString(text);
            return *to != nullptr;
        };
        return intern(&rule, "rule") && intern(&parted, "parted") &&
               intern(&place, "place") && intern(&join, "join") &&
               intern(&join_all, "join_all") && intern(&run_hooks, "run_hooks") &&
               intern(&add_part, "add_part") && intern(&heap, "heap") &&
               intern(&reached, "reached") && intern(&leaves, "leaves");
    }
};

// What core hands over once: classes, the functions of `heapq`, and constants.
struct WalkKind : Kind {
    Ref walk_class, partial, freed, check_saved, arrays;
    Ref rule_in_float32;  // of cotangents in half precision
    Ref add, add_into;    // of arrays
    Ref heappush, heappop;
    Ref memory[4];
    Names names;

    bool read(PyObject* args) {
        const Ref heapq(PyImport_ImportModule("heapq"));
        if (!heapq || !names.make() ||
            !read_fields(args, walk_class, partial, freed, check_saved, arrays,
                         rule_in_float32)) {
            return false;
        }
        add = Ref(PyObject_GetAttrString(arrays.get(), "add"));
        add_into = Ref(PyObject_GetAttrString(arrays.get(), "add_into"));
        heappush = Ref(PyObject_GetAttrString(heapq.get(), "heappush"));
        heappop = Ref(PyObject_GetAttrString(heapq.get(), "heappop"));
        for (int i = 0; i < 4; ++i) memory[i] = Ref(PyLong_FromLong(i));
        return add && add_into && heappush && heappop && !PyErr_Occurred();
    }
};

bool is_view(PyObject* array) {
    if (Py_TYPE(array) != bound.ndarray) return true;
    PyObject* base = fields(array)->base;
    return base != nullptr && PyObject_TypeCheck(base, bound.ndarray);
}

class Walking {
  public:
    // A pass of core's, or one that makes core's by `maker` where it is needed.
    Walking(const WalkKind& k, Ref walk, PyObject* maker)
        : k_(k), walk_(std::move(walk)), maker_(maker) {}

    bool begin() {
        heap_ = Ref(PyList_New(0));
        reached_ = Ref(PyDict_New());
        leaves_ = Ref(PyDict_New());
        return heap_ && reached_ && leaves_;
    }
    PyObject* leaves() const { return leaves_.get(); }

    // Reads core's pass; false: its definition has to run it, or an exception is set.
    bool take() {
        const auto get = [this](const char* name) {
            return Ref(PyObject_GetAttrString(walk_.get(), name));
        };
        auto* type = reinterpret_cast<PyObject*>(Py_TYPE(walk_.get()));
        if (type != k_.walk_class.get() || get("needed").get() != Py_None ||
            get("saved").get() != Py_None || get("k").get() != k_.arrays.get()) {
            return false;
        }
        heap_ = get("heap");
        reached_ = get("reached");
        leaves_ = get("leaves");
        const Ref keep = get("keep");
        if (!heap_ || !reached_ || !leaves_ || !keep) return false;
        const int keeps = PyObject_IsTrue(keep.get());
        keep_ = keeps > 0;
        return keeps >= 0 && PyList_CheckExact(heap_.get()) &&
               PyDict_CheckExact(reached_.get()) && PyDict_CheckExact(leaves_.get());
    }

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
    bool step() {
        PyObject* heap = heap_.get();
        Ref newest(PyObject_Vectorcall(k_.heappop.get(), &heap, 1, nullptr));
        Ref serial(newest ? PyNumber_Negative(newest.get()) : nullptr);
        if (!serial) return false;
        Ref arrived =
            Ref::borrow(PyDict_GetItemWithError(reached_.get(), serial.get()));
        if (!arrived || PyDict_DelItem(reached_.get(), serial.get()) < 0) return false;
        Ref node = Ref::borrow(PyList_GET_ITEM(arrived.get(), 0));
        if (walk_) {
            const Ref parted(PyObject_GetAttr(walk_.get(), k_.names.parted));
            if (!parted) return false;
            if (parted.get() != bound.zero &&
                !method(k_.names.join_all, arrived.get(), nullptr)) {
                return false;
            }
        }
        if (slot(node.get(), bound.hooks) != Py_None &&
            !method(k_.names.run_hooks, node.get(), arrived.get())) {
            return false;
        }
        return visit(node.get(), arrived.get());
    }

    PyObject* walk() {
        if (walk_) return walk_.get();
        walk_ = Ref(PyObject_CallNoArgs(maker_));
        const Names& n = k_.names;
        if (walk_ && (PyObject_SetAttr(walk_.get(), n.heap, heap_.get()) < 0 ||
                      PyObject_SetAttr(walk_.get(), n.reached, reached_.get()) < 0 ||
                      PyObject_SetAttr(walk_.get(), n.leaves, leaves_.get()) < 0)) {
            walk_ = Ref();
        }
        return walk_.get();
    }

    bool method(PyObject* name, PyObject* first, PyObject* second) {
        PyObject* args[] = {walk(), first, second};
        if (args[0] == nullptr) return false;
        Ref result(
            PyObject_VectorcallMethod(name, args, second == nullptr ? 2 : 3, nullptr));
        return static_cast<bool>(result);
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
                       : Ref(PyObject_GetAttr(slot(node, bound.op), k_.names.rule));
        if (!rule) return false;
        PyObject* args[] = {k_.arrays.get(), node, g.get()};
        Ref results(PyObject_Vectorcall(rule.get(), args, 3, nullptr));
        if (!results) return false;
        if (!PyTuple_CheckExact(results.get())) {
            results = Ref(PyTuple_Pack(1, results.get()));
            if (!results) return false;
        }
        if (!hand_on(node, arrived, g.get(), results.get())) return false;
        if (!keep_ && has_saved) {
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
                PyObject* args[] = {walk(), edge, result, shape, arrived};
                if (args[0] == nullptr) return false;
                Ref done(
                    PyObject_VectorcallMethod(k_.names.add_part, args, 5, nullptr));
                if (!done) return false;
                continue;
            }
            const bool own = is_new(result, g, single) && times(results, result) == 1;
            if (!add(edge, result, own ? fresh : borrowed)) return false;
        }
        return true;
    }

    static bool is_new(PyObject* result, PyObject* g, bool single) {
        if (single) return result != g;
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(g); ++i) {
            if (PyTuple_GET_ITEM(g, i) == result) return false;
        }
        return true;
    }

    static int times(PyObject* results, PyObject* result) {
        int count = 0;
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(results); ++i) {
            count += PyTuple_GET_ITEM(results, i) == result;
        }
        return count;
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
        if (Py_TYPE(edge) == bound.node) {
            PyObject* serial = slot(edge, bound.serial);
            PyObject* found = PyDict_GetItemWithError(reached_.get(), serial);
            if (found != nullptr) return Ref::borrow(found);
            Ref first = PyErr_Occurred() ? Ref() : entry(edge, value, memory);
            *done = first && PyDict_SetItem(reached_.get(), serial, first.get()) == 0 &&
                    push(serial);
            return {};
        }
        if (Py_TYPE(edge) == bound.leaf) {
            PyObject* found = PyDict_GetItemWithError(leaves_.get(), edge);
            if (found != nullptr) return Ref::borrow(found);
            Ref first = PyErr_Occurred() ? Ref() : entry(edge, value, memory);
            *done = first && PyDict_SetItem(leaves_.get(), edge, first.get()) == 0;
            return {};
        }
        PyObject* args[] = {walk(), edge};
        if (args[0] == nullptr) return {};
        Ref pair(PyObject_VectorcallMethod(k_.names.place, args, 2, nullptr));
        if (!pair) return pair;
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
            if (!index || !method(k_.names.join, arrived.get(), index.get())) {
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

    const WalkKind& k_;
    Ref walk_;
    PyObject* maker_;
    Ref heap_, reached_, leaves_;
    bool keep_ = false;
};

// `Walk.run(self, roots, cotangents, capture=())`
PyObject* call_walk(PyObject* self, PyObject* const* args, std::size_t nargsf,
                    PyObject* keywords) {
    const Py_ssize_t count = PyVectorcall_NARGS(nargsf);
    const bool plain = keywords == nullptr && (count == 3 || count == 4);
    if (!plain || bound.paused) return define(self, args, nargsf, keywords);
    if (count == 4 && !((PyTuple_Check(args[3]) && PyTuple_GET_SIZE(args[3]) == 0) ||
                        (PyList_Check(args[3]) && PyList_GET_SIZE(args[3]) == 0))) {
        return define(self, args, nargsf, keywords);
    }
    Walking walking(kind_of<WalkKind>(self), Ref::borrow(args[0]), nullptr);
    Ref roots(PySequence_Fast(args[1], "run: roots must be a sequence"));
    Ref cotangents(PySequence_Fast(args[2], "run: cotangents must be a sequence"));
    if (!roots || !cotangents) return nullptr;
    const Py_ssize_t n = PySequence_Fast_GET_SIZE(roots.get());
    if (n != PySequence_Fast_GET_SIZE(cotangents.get()) || !walking.take())
        return define_or_raise(self, args, nargsf, keywords);
    for (Py_ssize_t i = 0; i < n; ++i) {
        if (!walking.start(PySequence_Fast_GET_ITEM(roots.get(), i),
                           PySequence_Fast_GET_ITEM(cotangents.get(), i))) {
            return nullptr;
        }
    }
    return walking.run() ? new_none() : nullptr;
}

// ---- Tensor.backward

struct BackwardKind : Kind {
    Ref walk;  // the callable of a `WalkKind`
    Ref full, copy, deliver, make_walk;

    bool read(PyObject* args) {
        return read_fields(args, walk, full, copy, deliver, make_walk);
    }
};

// Gradients are not recorded while it lives.
class NoGrad {
  public:
    explicit NoGrad(const Context& context) {
        if (!context.grad()) return;
        Ref state(bound.state->tp_alloc(bound.state, 0));
        if (!state) return;
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

// The cotangent: that which is given, or 1 for a tensor of one element; null without an
// exception for the definition.
Ref seed_of(const BackwardKind& k, PyObject* y, PyObject* given) {
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
    for (int d = 0; d < a->nd; ++d) {
        if (a->dimensions[d] != 1) return {};
    }
    Ref shape(shape_of(a)), one(PyLong_FromLong(1));
    if (!shape || !one) return {};
    PyObject* args[] = {shape.get(), one.get(), dtype_of(a)};
    return Ref(PyObject_Vectorcall(k.full.get(), args, 3, nullptr));
}

bool is_empty(PyObject* hooks) {
    return hooks == Py_None || (PyDict_Check(hooks) && PyDict_GET_SIZE(hooks) == 0);
}

// Adds what has arrived at a leaf to its `grad`: `_deliver` of core's `_gradients.py`.
bool deliver(const BackwardKind& k, PyObject* leaf, PyObject* entry) {
    PyObject* value = PyList_GET_ITEM(entry, 1);
    PyObject* memory = PyList_GET_ITEM(entry, 2);
    PyObject* held = slot(leaf, bound.leaf_grad);
    const bool first = held == Py_None;
    PyObject* total = first ? nullptr : array_of(held);
    const bool plain =
        is_empty(slot(leaf, bound.leaf_hooks)) &&
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
    return run(kind_of<WalkKind>(k.walk.get()).add_into.get(), args, 2) &&
           bump(gradient.get());
}

// Tensor.backward(self, gradient=None), where nothing else is asked for.
PyObject* call_backward(PyObject* self, PyObject* const* args, std::size_t nargsf,
                        PyObject* keywords) {
    const BackwardKind& k = kind_of<BackwardKind>(self);
    const Py_ssize_t count = PyVectorcall_NARGS(nargsf);
    Ref seed;
    if ((count == 1 || count == 2) && positional(keywords, nargsf, count) &&
        is_tensor(args[0])) {
        seed = seed_of(k, args[0], count == 2 ? args[1] : Py_None);
    }
    if (!seed) return define_or_raise(self, args, nargsf, keywords);
    const Context context;
    Walking walking(kind_of<WalkKind>(k.walk.get()), Ref(), k.make_walk.get());
    if (!context || !walking.begin()) return nullptr;
    {
        const NoGrad scope(context);
        if (PyErr_Occurred() || !walking.start(slot(args[0], bound.edge), seed.get()) ||
            !walking.run()) {
            return nullptr;
        }
    }
    PyObject *leaf, *entry;
    Py_ssize_t at = 0;
    // Hooks may run another pass, but none that could change these leaves.
    while (PyDict_Next(walking.leaves(), &at, &leaf, &entry)) {
        if (!deliver(k, leaf, entry)) return nullptr;
    }
    return new_none();
}

}  // namespace

PyMethodDef walk_calls[] = {
    {"walk", make<WalkKind, call_walk>, METH_VARARGS, nullptr},
    {"backward", make<BackwardKind, call_backward>, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace autocalc::python::eager
