// SPDX-License-Identifier: MIT
//
// Operators of any kernel, and any kernel on arrays: `nary` of core's
// `_ops/_operator/factories.py`, `KernelCall.run` of its `_dispatch/selection/call.py`.
#include <algorithm>

#include "eager/arrays.hpp"
#include "eager/calls.hpp"

namespace autocalc::python::eager {
namespace {

constexpr Py_ssize_t max_arguments = 40;
constexpr Py_ssize_t max_outputs = 16;
using Outputs = Objects<max_outputs>;

struct Kernel : Kind {
    Py_ssize_t index, n_inputs, n_outputs;
};

struct ArrayKernel : Kernel {
    void read(const py::args& args) { read_fields(args, index, n_inputs, n_outputs); }
};

// A decision as core keeps it: kernel, metas of the outputs, attributes that the caller
// left out.  Plans of another form (a decomposition, another layout) are left to core.
struct Plan {
    Ref whole;
    PyObject* kernel;
    PyObject* metas;
    PyObject* more;

    // False: core has to look, or an exception is set.
    bool find(const Context& context, const Kernel& k, PyObject* want,
              PyObject* const* args, Py_ssize_t count) {
        Ref attributes(PyTuple_New(count - k.n_inputs));
        Ref described = context.key_of(args, k.n_inputs);
        if (!attributes || !described) return false;
        for (Py_ssize_t i = k.n_inputs; i < count; ++i) {
            Py_INCREF(args[i]);
            PyTuple_SET_ITEM(attributes.get(), i - k.n_inputs, args[i]);
        }
        Ref key(PyTuple_Pack(3, want, attributes.get(), described.get()));
        if (!key) return false;
        whole = context.decision(k.index, key.get());
        return whole && read(k.n_outputs) &&
               k.n_outputs + count + PyTuple_GET_SIZE(more) <= max_arguments;
    }

    // Takes the decision apart; false where it is of another form.
    bool read(Py_ssize_t n_outputs) {
        PyObject* plan = whole.get();
        if (!PyTuple_CheckExact(plan) || PyTuple_GET_SIZE(plan) != 4 ||
            PyTuple_GET_ITEM(plan, 3) != Py_None) {
            return false;
        }
        kernel = PyTuple_GET_ITEM(plan, 0);
        metas = PyTuple_GET_ITEM(plan, 1);
        more = PyTuple_GET_ITEM(plan, 2);
        return Py_TYPE(kernel) != bound.decomposed && PyTuple_Check(metas) &&
               PyTuple_Check(more) && PyTuple_GET_SIZE(metas) == n_outputs;
    }

    // Makes the outputs and runs the kernel; `outs` are owned, None where not wanted.
    bool run_into(const Context& context, PyObject* const* args, Py_ssize_t count,
                  Outputs* outs) const {
        PyObject* all[max_arguments];
        const Py_ssize_t n_outputs = PyTuple_GET_SIZE(metas);
        for (Py_ssize_t i = 0; i < n_outputs; ++i) {
            PyObject* meta = PyTuple_GET_ITEM(metas, i);
            if (!outs->add(meta == Py_None ? Ref::borrow(Py_None)
                                           : context.empty(PyTuple_GET_ITEM(meta, 1),
                                                           PyTuple_GET_ITEM(meta, 0))))
                return false;
            all[i] = outs->at[i];
        }
        Py_ssize_t used = n_outputs;
        for (Py_ssize_t i = 0; i < count; ++i) all[used++] = args[i];
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(more); ++i) {
            all[used++] = PyTuple_GET_ITEM(more, i);
        }
        return run(kernel, all, used);
    }
};

// ---- on arrays

// The value of ``want=`` alone, or null.
PyObject* want_alone(PyObject* keywords, PyObject* const* args, Py_ssize_t count) {
    if (bound.paused) return nullptr;
    if (keywords == nullptr) return bound.zero;
    if (PyTuple_GET_SIZE(keywords) != 1) return nullptr;
    const int is_want =
        PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(keywords, 0), "want");
    return is_want == 0 ? args[count] : nullptr;
}

PyObject* call_array_kernel(PyObject* self, PyObject* const* args, std::size_t nargsf,
                            PyObject* keywords) {
    const Kernel& k = kind_of<ArrayKernel>(self);
    const Py_ssize_t count = PyVectorcall_NARGS(nargsf);
    PyObject* want = want_alone(keywords, args, count);
    if (want == nullptr || count < k.n_inputs) {
        return define(self, args, nargsf, keywords);
    }
    const Context context;
    if (!context) return nullptr;
    Plan plan;
    if (!plan.find(context, k, want, args, count)) {
        return define_or_raise(self, args, nargsf, keywords);
    }
    Outputs outs;
    if (!plan.run_into(context, args, count, &outs)) return nullptr;
    return k.n_outputs == 1 ? Py_NewRef(outs.at[0])
                            : tuple_of(outs.at, k.n_outputs).release();
}

// ---- on tensors

struct Operator : Kernel {
    Ref op;
    Saves saves;
    Ref want;  // the mask of outputs that are saved
    std::vector<Py_ssize_t> kept;
    bool differentiable = true;
};

struct Nary : Operator {
    void read(const py::args& args) {
        read_fields(args, index, n_inputs, n_outputs, op, saves, kept, differentiable);
        want = Ref(py::int_(saves.outputs()).release().ptr());
    }
};

// Arrays and edges of the inputs; false where one is neither tensor nor None.
bool take_inputs(const Operator& k, PyObject* const* args, PyObject** arrays,
                 PyObject** edges, bool* leads_back) {
    for (Py_ssize_t i = 0; i < k.n_inputs; ++i) {
        arrays[i] = edges[i] = Py_None;
        if (args[i] == Py_None) continue;
        arrays[i] = array_of(args[i]);
        if (arrays[i] == nullptr) return false;
        edges[i] = slot(args[i], bound.edge);
        if (edges[i] == nullptr) return false;
        *leads_back |= edges[i] != Py_None;
    }
    return true;
}

bool is_float_kind(PyObject* tensor) {
    const char kind = fields(slot(tensor, bound.array))->descr->kind;
    return kind == 'f' || kind == 'V';
}

// Lets the floating-point results of a node of several lead to it.
bool lead_to(PyObject* node, const Operator& k, const Outputs& results) {
    for (std::size_t i = 0; i < k.kept.size(); ++i) {
        PyObject* result = results.at[k.kept[i]];
        if (!is_float_kind(result)) continue;
        PyObject* output = bound.output->tp_alloc(bound.output, 0);
        if (output == nullptr) return false;
        slot(output, bound.output_node) = Ref::borrow(node).release();
        slot(output, bound.output_slot) = PyLong_FromSize_t(i);
        set_slot(result, bound.edge, output);
        if (slot(output, bound.output_slot) == nullptr) return false;
    }
    return true;
}

PyObject* kept_results(const Operator& k, const Outputs& results) {
    if (k.kept.size() == 1) return Py_NewRef(results.at[k.kept[0]]);
    PyObject* kept[max_outputs];
    Py_ssize_t count = 0;
    for (const Py_ssize_t i : k.kept) kept[count++] = results.at[i];
    return tuple_of(kept, count).release();
}

PyObject* record_nary(const Operator& k, PyObject* const* args, Py_ssize_t count,
                      PyObject* const* arrays, PyObject* const* edges,
                      const Outputs& results, PyObject* dtype) {
    PyObject* tensors[max_outputs + max_arguments];
    for (Py_ssize_t i = 0; i < k.n_outputs; ++i) {
        tensors[i] = results.at[i] == Py_None ? nullptr : results.at[i];
    }
    for (Py_ssize_t i = 0; i < k.n_inputs; ++i) {
        tensors[k.n_outputs + i] = args[i] == Py_None ? nullptr : args[i];
    }
    Ref saved, versions;
    if (!k.saves.keep(edges, tensors, &saved, &versions)) return nullptr;
    Ref node(new_node(k.op.get(), tuple_of(edges, k.n_inputs), std::move(saved),
                      std::move(versions), shapes_of(arrays, k.n_inputs), dtype,
                      tuple_of(args + k.n_inputs, count - k.n_inputs)));
    if (!node) return nullptr;
    if (k.kept.size() == 1) {
        set_slot(results.at[k.kept[0]], bound.edge, node.release());
    } else if (!lead_to(node.get(), k, results)) {
        return nullptr;
    }
    return kept_results(k, results);
}

// Runs a decision on arrays; `args` are the tensors and attributes that led there.
PyObject* run_nary(const Operator& k, const Plan& plan, const Context& context,
                   bool record, PyObject* const* args, Py_ssize_t count,
                   PyObject* const* arrays, PyObject* const* edges) {
    Outputs results;  // arrays, then tensors
    if (!plan.run_into(context, arrays, count, &results)) return nullptr;
    Ref dtype;
    for (int i = 0; i < results.used; ++i) {
        PyObject*& one = results.at[i];
        if (one == Py_None) continue;
        if (!dtype) dtype = Ref::borrow(dtype_of(fields(one)));
        one = new_tensor(Ref(one));
        if (one == nullptr) return nullptr;
    }
    if (!record) return kept_results(k, results);
    return record_nary(k, args, count, arrays, edges, results, dtype.get());
}

PyObject* call_nary(PyObject* self, PyObject* const* args, std::size_t nargsf,
                    PyObject* keywords) {
    const Nary& k = kind_of<Nary>(self);
    const Py_ssize_t count = PyVectorcall_NARGS(nargsf);
    PyObject* arrays[max_arguments];
    PyObject* edges[max_arguments];
    bool leads_back = false;
    if (keywords != nullptr || count < k.n_inputs || count > max_arguments ||
        bound.paused || !take_inputs(k, args, arrays, edges, &leads_back)) {
        return define(self, args, nargsf, keywords);
    }
    const Context context;
    if (!context) return nullptr;
    const bool record = k.differentiable && leads_back && context.grad();
    for (Py_ssize_t i = k.n_inputs; i < count; ++i) arrays[i] = args[i];
    // Another thread may give a tensor another array while the kernel runs.
    const Ref held = tuple_of(arrays, k.n_inputs);
    const Ref led = tuple_of(edges, record ? k.n_inputs : 0);
    Plan plan;
    if (!held || !led ||
        !plan.find(context, k, record ? k.want.get() : bound.zero, arrays, count))
        return define_or_raise(self, args, nargsf, keywords);
    return run_nary(k, plan, context, record, args, count, arrays, edges);
}

// ---- products of matrices

struct Product : Operator {
    Ref plain;        // the attributes of a product and nothing else, at most 5
    Py_ssize_t dims;  // of both operands, the first one equal in three; 0: two or more

    void read(const py::args& args) {
        read_fields(args, index, op, saves, plain, dims);
        n_inputs = 3;
        n_outputs = 2;
        kept = {0};
    }

    bool fits(const Array* a, const Array* b) const {
        if (a->descr != b->descr || !is_wide_float(a) || a->nd < 2 || b->nd < 2) {
            return false;
        }
        if (dims == 0) return true;
        return a->nd == dims && b->nd == dims &&
               (dims < 3 || a->dimensions[0] == b->dimensions[0]);
    }
};

// `product` of core's `_ops/matrices/matmul.py`: a decision is kept under both operands
// alone.
PyObject* call_product(PyObject* self, PyObject* const* args, std::size_t nargsf,
                       PyObject* keywords) {
    const Product& k = kind_of<Product>(self);
    PyObject *arrays[8], *edges[3];
    PyObject* all[8] = {nullptr, nullptr, Py_None};
    Py_ssize_t count = 3;
    bool leads_back = false;
    if (!positional(keywords, nargsf, 2)) return define(self, args, nargsf, keywords);
    std::copy_n(args, 2, all);
    if (args[0] == Py_None || args[1] == Py_None ||
        !take_inputs(k, all, arrays, edges, &leads_back) ||
        !k.fits(fields(arrays[0]), fields(arrays[1]))) {
        return define(self, args, nargsf, keywords);
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(k.plain.get()); ++i) {
        all[count] = arrays[count] = PyTuple_GET_ITEM(k.plain.get(), i);
        ++count;
    }
    const Context context;
    if (!context) return nullptr;
    const bool record = leads_back && context.grad();
    const Ref held = tuple_of(arrays, 2), led = tuple_of(edges, record ? 2 : 0);
    if (!held || !led) return nullptr;
    const Ref key = context.key_of(arrays, 2);
    Plan plan;
    if (key) plan.whole = context.decision(k.index, key.get());
    if (!plan.whole || !plan.read(2)) {
        return define_or_raise(self, args, nargsf, keywords);
    }
    return run_nary(k, plan, context, record, all, count, arrays, edges);
}

}  // namespace

void add_kernels(py::module_& calls) {
    add_kind<Product>(calls, "product", call_product);
    add_kind<Nary>(calls, "nary", call_nary);
    add_kind<ArrayKernel>(calls, "array_kernel", call_array_kernel);
}

}  // namespace autocalc::python::eager
