// SPDX-License-Identifier: MIT
//
// Elementwise kernels of one to three operands: on tensors, on tensors in place, and on
// arrays. A call is described by data (`Elementwise`); how many operands there are and
// what they are is known at compile time, so that each call does its own steps alone:
// read the operands, broadcast, look the decision up, run, wrap or record.
#include <string>

#include "eager/calls.hpp"

namespace autocalc::python::eager {
namespace {

// Each call has its steps in one piece: a step shared by two calls costs 10 ns.
#define AC_STEP inline __attribute__((always_inline))

// What is read and made. INTO adds to memory that the caller owns, without looks.
enum class On { tensors, in_place, arrays, into };

struct Elementwise : Kind {
    Py_ssize_t index;  // of the kernel
    Ref op;            // of the node; None where nothing is recorded
    Saves saves;
    bool number_before;  // takes ``2.0 + x``
    bool number_after;
    Ref word;   // the kernel's attribute, part of the decision's key; or None
    Ref dtype;  // of the result, or None: that of the operand `like`
    Py_ssize_t like;
};

// An operand: a tensor, an array, or for a number, its array alone.  Array and
// edge are held: another thread may change the tensor while a kernel runs.
struct Operand {
    PyObject* tensor = nullptr;
    Ref array, history;
    PyObject* edge = Py_None;

    const Array* a() const { return fields(array.get()); }

    bool take(PyObject* object) {
        PyObject* found = array_of(object);
        if (found == nullptr) return false;
        tensor = object;
        array = Ref::borrow(found);
        history = Ref::borrow(slot(object, bound.edge));
        edge = history.get();
        return edge != nullptr;
    }
};

// ---- reading operands; false where the definition has to look

bool take_two(const Elementwise& k, PyObject* const* args, Operand* x) {
    if (!x[0].take(args[0])) {
        if (!k.number_before || is_tensor(args[0]) || !x[1].take(args[1])) return false;
        x[0].array = number_beside(args[0], x[1].a());
        if (!x[0].array) return false;
    } else if (!x[1].take(args[1])) {
        if (!k.number_after || is_tensor(args[1])) return false;
        x[1].array = number_beside(args[1], x[0].a());
        if (!x[1].array) return false;
    }
    const Array *a = x[0].a(), *b = x[1].a();
    return a->descr == b->descr && gives_rows(a) && gives_rows(b);
}

// Tensors of any dtypes, all but the first of which may be None.
template <int count>
AC_STEP bool take_each(PyObject* const* args, Operand* x) {
    for (int i = 0; i < count; ++i) {
        if (i > 0 && args[i] == Py_None) continue;
        if (!x[i].take(args[i]) || !gives_rows(x[i].a())) return false;
    }
    return true;
}

template <int count>
AC_STEP bool take_in_place(PyObject* const* args, const Context& context, Operand* x) {
    const Array* a = writable(args[0], context);
    if (a == nullptr) return false;
    x[0].array = Ref::borrow(slot(args[0], bound.array));
    if (count > 1) x[1].array = operand_beside(args[1], a, context);
    return count == 1 || x[1].array;
}

// Exact arrays of one dtype; results are `in_rows`.
template <int count>
AC_STEP bool take_arrays(PyObject* const* args, bool in_rows, Operand* x) {
    for (int i = 0; i < count; ++i) {
        if (Py_TYPE(args[i]) != bound.ndarray) return false;
        x[i].array = Ref::borrow(args[i]);
        if (x[i].a()->descr != x[0].a()->descr) return false;
        if (in_rows && !gives_rows(x[i].a())) return false;
    }
    return true;
}

template <int count, On on>
AC_STEP bool take(const Elementwise& k, PyObject* const* args, const Context& context,
                  Operand* x) {
    if constexpr (on == On::in_place) return take_in_place<count>(args, context, x);
    if constexpr (on == On::arrays || on == On::into)
        return take_arrays<count>(args, on == On::arrays, x);
    if constexpr (count == 2) return take_two(k, args, x);
    return take_each<count>(args, x);
}

// ---- the steps

// The key of the decision: the dtype, those of three, or it and the word.
template <int count>
AC_STEP Ref key_of(const Elementwise& k, const Operand* x) {
    if constexpr (count == 3) {
        PyObject* dtypes[3];
        for (int i = 0; i < 3; ++i)
            dtypes[i] = x[i].array ? dtype_of(x[i].a()) : Py_None;
        return tuple_of(dtypes, 3);
    }
    if (k.word.get() == Py_None) return Ref::borrow(dtype_of(x[0].a()));
    return Ref(PyTuple_Pack(2, k.word.get(), dtype_of(x[0].a())));
}

// A new result of the operands' shapes; null without an exception where they do not
// fit.
template <int count>
AC_STEP Ref new_result(const Elementwise& k, const Operand* x, const Context& context) {
    PyObject* dtype = k.dtype.get();
    if (dtype == Py_None && !x[k.like].array) return {};
    if (dtype == Py_None) dtype = dtype_of(x[k.like].a());
    if constexpr (count == 1)
        return context.empty(dtype, x[0].a()->nd, x[0].a()->dimensions);
    const Array* arrays[count];
    int present = 0;
    for (int i = 0; i < count; ++i) {
        if (x[i].array) arrays[present++] = x[i].a();
    }
    Shape shape;
    if (!broadcast(arrays, present, &shape)) return {};
    return context.empty(dtype, shape.nd, shape.at);
}

template <int count>
AC_STEP bool run_kernel(const Elementwise& k, PyObject* kernel, PyObject* out,
                        const Operand* x) {
    PyObject* operands[count + 2] = {out};
    for (int i = 0; i < count; ++i)
        operands[i + 1] = x[i].array ? x[i].array.get() : Py_None;
    operands[count + 1] = k.word.get();
    return run(kernel, operands, count + 1 + (k.word.get() != Py_None));
}

template <int count>
PyObject* record(const Elementwise& k, const Operand* x, Ref out) {
    PyObject* dtype = dtype_of(fields(out.get()));
    Ref result(new_tensor(std::move(out)));
    if (!result) return nullptr;
    PyObject *edges[count], *arrays[count];
    PyObject* tensors[count + 1] = {result.get()};
    PyObject* numbers[count + 1] = {};
    for (int i = 0; i < count; ++i) {
        edges[i] = x[i].edge;
        arrays[i] = x[i].array ? x[i].array.get() : Py_None;
        tensors[i + 1] = x[i].tensor;
        numbers[i + 1] = x[i].array.get();
    }
    Ref saved, versions;
    if (!k.saves.keep(edges, tensors, &saved, &versions, numbers)) return nullptr;
    Ref shapes = count == 2 ? two_shapes(x[0].a(), x[1].a()) : shapes_of(arrays, count);
    PyObject* node = new_node(k.op.get(), tuple_of(edges, count), std::move(saved),
                              std::move(versions), std::move(shapes), dtype,
                              Ref::borrow(bound.nothing));
    if (node == nullptr) return nullptr;
    set_slot(result.get(), bound.edge, node);
    return result.release();
}

template <int count>
AC_STEP bool leads_back(const Operand* x) {
    for (int i = 0; i < count; ++i) {
        if (x[i].edge != Py_None) return true;
    }
    return false;
}

template <int count, On on>
PyObject* call(PyObject* self, PyObject* const* args, std::size_t nargsf,
               PyObject* keywords) {
    const Elementwise& k = kind_of<Elementwise>(self);
    Operand x[count];
    const Context context;
    if (!context) return nullptr;
    if (!positional(keywords, nargsf, count) || !take<count, on>(k, args, context, x)) {
        return define_or_raise(self, args, nargsf, keywords);
    }
    const Ref key = key_of<count>(k, x);
    const Ref kernel = key ? context.decision(k.index, key.get()) : Ref();
    if (!kernel) return define_or_raise(self, args, nargsf, keywords);
    constexpr bool is_new = on == On::tensors || on == On::arrays;
    Ref out = is_new ? new_result<count>(k, x, context) : Ref::borrow(x[0].array.get());
    if (!out) return define_or_raise(self, args, nargsf, keywords);
    if (!run_kernel<count>(k, kernel.get(), out.get(), x)) return nullptr;
    if constexpr (on == On::arrays || on == On::into) return out.release();
    if constexpr (on == On::in_place)
        return bump(args[0]) ? Ref::borrow(args[0]).release() : nullptr;
    if (k.op.get() == Py_None || !leads_back<count>(x) || !context.grad())
        return new_tensor(std::move(out));
    return record<count>(k, x, std::move(out));
}

// ---- by description

const struct {
    const char* name;
    vectorcallfunc of[3];  // by the number of operands
} calls[] = {
    {"tensors", {call<1, On::tensors>, call<2, On::tensors>, call<3, On::tensors>}},
    {"in place", {call<1, On::in_place>, call<2, On::in_place>, nullptr}},
    {"arrays", {call<1, On::arrays>, call<2, On::arrays>, nullptr}},
    {"into", {nullptr, call<2, On::into>, nullptr}}};

py::object make_elementwise(const py::args& args) {
    auto kind = std::make_unique<Elementwise>();
    std::string on;
    std::size_t count = 0;
    Elementwise& k = *kind;
    read_fields(args, on, count, k.index, k.op, k.saves, k.number_before,
                k.number_after, k.word, k.dtype, k.like);
    for (const auto& one : calls) {
        if (count >= 1 && count <= 3 && one.of[count - 1] != nullptr &&
            on == one.name) {
            return callable(args, one.of[count - 1], std::move(kind));
        }
    }
    throw py::type_error("elementwise: there are no such calls on " + on);
}

}  // namespace

void add_elementwise(py::module_& calls) { calls.def("elementwise", make_elementwise); }

}  // namespace autocalc::python::eager
