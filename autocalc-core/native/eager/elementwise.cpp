// SPDX-License-Identifier: MIT
//
// Elementwise operators of one, two and three tensors, comparisons, and the same
// kernels on arrays, as backward rules call them.
#include "eager/calls.hpp"

namespace autocalc::python::eager {
namespace {

// One operand: the tensor or, where a number stands, its array alone.  Array and edge
// are held: another thread may change the tensor while a kernel runs.
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
    // The version cell of what is saved, owned.
    Ref version() const {
        return tensor == nullptr ? Ref(new_version()) : Ref::borrow(version_of(tensor));
    }
};

// ---- one tensor

struct Unary : Kind {
    Py_ssize_t index;
    Ref op;
    bool saves_input, saves_output;

    bool read(PyObject* args) {
        return read_fields(args, index, op, saves_input, saves_output);
    }
};

PyObject* call_unary(PyObject* self, PyObject* const* args, std::size_t nargsf,
                     PyObject* keywords) {
    const Unary& k = kind_of<Unary>(self);
    Operand x;
    if (!positional(keywords, nargsf, 1) || !x.take(args[0]) || !gives_rows(x.a())) {
        return define(self, args, nargsf, keywords);
    }
    const Context context;
    if (!context) return nullptr;
    const Array* a = x.a();
    Ref dtype = Ref::borrow(dtype_of(a));
    Ref kernel = context.decision(k.index, dtype.get());
    if (!kernel) return define_or_raise(self, args, nargsf, keywords);
    Ref y = context.empty(dtype.get(), a->nd, a->dimensions);
    PyObject* operands[] = {y.get(), x.array.get()};
    if (!y || !run(kernel.get(), operands, 2)) return nullptr;
    if (x.edge == Py_None || !context.grad()) return new_tensor(std::move(y));
    Ref edges(PyTuple_Pack(1, x.edge));
    Ref shape(shape_of(a));
    Ref shapes(shape ? PyTuple_Pack(1, shape.get()) : nullptr);
    Ref saved = Ref::borrow(bound.nothing), versions = Ref::borrow(bound.nothing);
    Ref cell;
    if (k.saves_input || k.saves_output) {
        cell = k.saves_input ? x.version() : Ref(new_version());
        if (!cell) return nullptr;
        saved = Ref(PyTuple_Pack(1, k.saves_input ? x.array.get() : y.get()));
        versions = Ref(PyTuple_Pack(2, cell.get(), slot(cell.get(), bound.count)));
    }
    Ref node(new_node(k.op.get(), std::move(edges), std::move(saved),
                      std::move(versions), std::move(shapes), dtype.get(),
                      Ref::borrow(bound.nothing)));
    if (!node) return nullptr;
    PyObject* result = new_tensor(std::move(y), std::move(node));
    if (result != nullptr && !k.saves_input && k.saves_output) {
        set_slot(result, bound.version_cell, cell.release());
    }
    return result;
}

// ---- two tensors, or a tensor and a number

struct Binary : Kind {
    Py_ssize_t index;
    Ref op;
    Saves saves;
    bool crosswise;     // saves each operand for the gradient of the other
    bool number_after;  // takes ``x + 2.0``
    bool number_before;

    bool read(PyObject* args) {
        return read_fields(args, index, op, saves, crosswise, number_before,
                           number_after);
    }
};

// Reads both operands; false where the definition has to look.
bool take_two(PyObject* const* args, bool number_before, bool number_after, Operand* x,
              Operand* y) {
    if (!x->take(args[0])) {
        if (!number_before || is_tensor(args[0]) || !y->take(args[1])) return false;
        x->array = number_beside(args[0], y->a());
        if (!x->array) return false;
    } else if (!y->take(args[1])) {
        if (!number_after || is_tensor(args[1])) return false;
        y->array = number_beside(args[1], x->a());
        if (!y->array) return false;
    }
    const Array *a = x->a(), *b = y->a();
    return a->descr == b->descr && gives_rows(a) && gives_rows(b);
}

// Saved arrays and versions of ``a:b b:a``.
bool keep_crosswise(const Operand& x, const Operand& y, Ref* saved, Ref* versions) {
    Ref cell_a = y.edge == Py_None ? Ref::borrow(Py_None) : x.version();
    Ref cell_b = x.edge == Py_None ? Ref::borrow(Py_None) : y.version();
    if (!cell_a || !cell_b) return false;
    const auto count = [](const Ref& cell) {
        return cell.get() == Py_None ? bound.zero : slot(cell.get(), bound.count);
    };
    *saved = Ref(PyTuple_Pack(2, y.edge == Py_None ? Py_None : x.array.get(),
                              x.edge == Py_None ? Py_None : y.array.get()));
    *versions =
        Ref(PyTuple_Pack(4, cell_a.get(), count(cell_a), cell_b.get(), count(cell_b)));
    return *saved && *versions;
}

PyObject* record_binary(const Binary& k, const Operand& x, const Operand& y, Ref z,
                        PyObject* dtype) {
    Ref edges(PyTuple_Pack(2, x.edge, y.edge));
    Ref shapes = two_shapes(x.a(), y.a());
    Ref saved = Ref::borrow(bound.nothing), versions = Ref::borrow(bound.nothing);
    if (k.saves.empty() || k.crosswise) {
        if (k.crosswise && !keep_crosswise(x, y, &saved, &versions)) return nullptr;
        Ref node(new_node(k.op.get(), std::move(edges), std::move(saved),
                          std::move(versions), std::move(shapes), dtype,
                          Ref::borrow(bound.nothing)));
        return node ? new_tensor(std::move(z), std::move(node)) : nullptr;
    }
    Ref result(new_tensor(std::move(z)));
    if (!result) return nullptr;
    Ref number;  // which needs a tensor for its version, where it is saved
    const bool has_number = x.tensor == nullptr || y.tensor == nullptr;
    if (has_number) {
        const Operand& plain = x.tensor == nullptr ? x : y;
        number = Ref(new_tensor(Ref::borrow(plain.array.get())));
        if (!number) return nullptr;
    }
    PyObject* tensors[] = {result.get(), x.tensor == nullptr ? number.get() : x.tensor,
                           y.tensor == nullptr ? number.get() : y.tensor};
    PyObject* both[] = {x.edge, y.edge};
    if (!k.saves.keep(both, tensors, &saved, &versions)) return nullptr;
    PyObject* node =
        new_node(k.op.get(), std::move(edges), std::move(saved), std::move(versions),
                 std::move(shapes), dtype, Ref::borrow(bound.nothing));
    if (node == nullptr) return nullptr;
    set_slot(result.get(), bound.edge, node);
    return result.release();
}

PyObject* call_binary(PyObject* self, PyObject* const* args, std::size_t nargsf,
                      PyObject* keywords) {
    const Binary& k = kind_of<Binary>(self);
    Operand x, y;
    Shape shape;
    if (!positional(keywords, nargsf, 2) ||
        !take_two(args, k.number_before, k.number_after, &x, &y)) {
        return define_or_raise(self, args, nargsf, keywords);
    }
    const Array* both[] = {x.a(), y.a()};
    if (!broadcast(both, 2, &shape)) return define(self, args, nargsf, keywords);
    const Context context;
    if (!context) return nullptr;
    Ref dtype = Ref::borrow(dtype_of(x.a()));
    Ref kernel = context.decision(k.index, dtype.get());
    if (!kernel) return define_or_raise(self, args, nargsf, keywords);
    Ref z = context.empty(dtype.get(), shape.nd, shape.at);
    PyObject* operands[] = {z.get(), x.array.get(), y.array.get()};
    if (!z || !run(kernel.get(), operands, 3)) return nullptr;
    if ((x.edge == Py_None && y.edge == Py_None) || !context.grad()) {
        return new_tensor(std::move(z));
    }
    return record_binary(k, x, y, std::move(z), dtype.get());
}

// ---- comparisons

struct Comparison : Kind {
    Py_ssize_t index;
    Ref word;
    Ref boolean;

    bool read(PyObject* args) { return read_fields(args, index, word, boolean); }
};

PyObject* call_comparison(PyObject* self, PyObject* const* args, std::size_t nargsf,
                          PyObject* keywords) {
    const Comparison& k = kind_of<Comparison>(self);
    Operand x, y;
    Shape shape;
    if (!positional(keywords, nargsf, 2) || !take_two(args, false, true, &x, &y)) {
        return define_or_raise(self, args, nargsf, keywords);
    }
    const Array* both[] = {x.a(), y.a()};
    if (!broadcast(both, 2, &shape)) return define(self, args, nargsf, keywords);
    const Context context;
    Ref key(PyTuple_Pack(2, k.word.get(), dtype_of(x.a())));
    if (!context || !key) return nullptr;
    Ref kernel = context.decision(k.index, key.get());
    if (!kernel) return define_or_raise(self, args, nargsf, keywords);
    Ref z = context.empty(k.boolean.get(), shape.nd, shape.at);
    PyObject* operands[] = {z.get(), x.array.get(), y.array.get(), k.word.get()};
    if (!z || !run(kernel.get(), operands, 4)) return nullptr;
    return new_tensor(std::move(z));
}

// ---- three tensors, the last two of which may be None

struct Ternary : Kind {
    Py_ssize_t index;
    Ref op;
    Saves saves;
    Py_ssize_t like;  // whose dtype the result has

    bool read(PyObject* args) { return read_fields(args, index, op, saves, like); }
};

PyObject* record_ternary(const Ternary& k, const Operand* x, PyObject* result,
                         PyObject* dtype) {
    PyObject* all_edges[] = {x[0].edge, x[1].edge, x[2].edge};
    PyObject* tensors[] = {result, x[0].tensor, x[1].tensor, x[2].tensor};
    PyObject* arrays[3];
    for (int i = 0; i < 3; ++i) {
        arrays[i] = x[i].tensor == nullptr ? Py_None : x[i].array.get();
    }
    Ref saved, versions;
    if (!k.saves.keep(all_edges, tensors, &saved, &versions)) return nullptr;
    return new_node(k.op.get(), tuple_of(all_edges, 3), std::move(saved),
                    std::move(versions), shapes_of(arrays, 3), dtype,
                    Ref::borrow(bound.nothing));
}

PyObject* call_ternary(PyObject* self, PyObject* const* args, std::size_t nargsf,
                       PyObject* keywords) {
    const Ternary& k = kind_of<Ternary>(self);
    Operand x[3];
    const Array* arrays[3];
    PyObject* dtypes[3];
    PyObject* operands[4];
    int count = 0;
    bool known = positional(keywords, nargsf, 3);
    for (int i = 0; i < 3 && known; ++i) {
        operands[i + 1] = dtypes[i] = Py_None;
        if (i > 0 && args[i] == Py_None) continue;
        known = x[i].take(args[i]) && gives_rows(x[i].a());
        if (!known) break;
        arrays[count++] = x[i].a();
        dtypes[i] = dtype_of(x[i].a());
        operands[i + 1] = x[i].array.get();
    }
    Shape shape;
    if (!known || !broadcast(arrays, count, &shape) || dtypes[k.like] == Py_None) {
        return define(self, args, nargsf, keywords);
    }
    const Context context;
    Ref key(PyTuple_Pack(3, dtypes[0], dtypes[1], dtypes[2]));
    if (!context || !key) return nullptr;
    Ref kernel = context.decision(k.index, key.get());
    if (!kernel) return define_or_raise(self, args, nargsf, keywords);
    Ref dtype = Ref::borrow(dtypes[k.like]);
    Ref out = context.empty(dtype.get(), shape.nd, shape.at);
    operands[0] = out.get();
    if (!out || !run(kernel.get(), operands, 4)) return nullptr;
    Ref result(new_tensor(std::move(out)));
    if (!result) return nullptr;
    const bool leads =
        x[0].edge != Py_None || x[1].edge != Py_None || x[2].edge != Py_None;
    if (leads && context.grad()) {
        PyObject* node = record_ternary(k, x, result.get(), dtype.get());
        if (node == nullptr) return nullptr;
        set_slot(result.get(), bound.edge, node);
    }
    return result.release();
}

// ---- on arrays

struct OnArrays : Kind {
    Py_ssize_t index;

    bool read(PyObject* args) { return read_fields(args, index); }
};

// An exact array whose results lie in rows.
const Array* plain_array(PyObject* object) {
    if (Py_TYPE(object) != bound.ndarray) return nullptr;
    const Array* a = fields(object);
    return gives_rows(a) ? a : nullptr;
}

PyObject* call_unary_on_arrays(PyObject* self, PyObject* const* args,
                               std::size_t nargsf, PyObject* keywords) {
    const OnArrays& k = kind_of<OnArrays>(self);
    const Array* a = positional(keywords, nargsf, 1) ? plain_array(args[0]) : nullptr;
    if (a == nullptr) return define(self, args, nargsf, keywords);
    const Context context;
    if (!context) return nullptr;
    Ref kernel = context.decision(k.index, dtype_of(a));
    if (!kernel) return define_or_raise(self, args, nargsf, keywords);
    Ref out = context.empty(dtype_of(a), a->nd, a->dimensions);
    PyObject* operands[] = {out.get(), args[0]};
    if (!out || !run(kernel.get(), operands, 2)) return nullptr;
    return out.release();
}

PyObject* call_binary_on_arrays(PyObject* self, PyObject* const* args,
                                std::size_t nargsf, PyObject* keywords) {
    const OnArrays& k = kind_of<OnArrays>(self);
    const Array *a = nullptr, *b = nullptr;
    if (positional(keywords, nargsf, 2)) {
        a = plain_array(args[0]);
        b = plain_array(args[1]);
    }
    const Array* both[] = {a, b};
    Shape shape;
    if (a == nullptr || b == nullptr || a->descr != b->descr ||
        !broadcast(both, 2, &shape)) {
        return define(self, args, nargsf, keywords);
    }
    const Context context;
    if (!context) return nullptr;
    Ref kernel = context.decision(k.index, dtype_of(a));
    if (!kernel) return define_or_raise(self, args, nargsf, keywords);
    Ref out = context.empty(dtype_of(a), shape.nd, shape.at);
    PyObject* operands[] = {out.get(), args[0], args[1]};
    if (!out || !run(kernel.get(), operands, 3)) return nullptr;
    return out.release();
}

// add_into(total, value): adds to memory that the caller owns.
PyObject* call_add_into(PyObject* self, PyObject* const* args, std::size_t nargsf,
                        PyObject* keywords) {
    const OnArrays& k = kind_of<OnArrays>(self);
    if (!positional(keywords, nargsf, 2) || Py_TYPE(args[0]) != bound.ndarray ||
        Py_TYPE(args[1]) != bound.ndarray ||
        fields(args[0])->descr != fields(args[1])->descr) {
        return define(self, args, nargsf, keywords);
    }
    const Context context;
    if (!context) return nullptr;
    Ref kernel = context.decision(k.index, dtype_of(fields(args[0])));
    if (!kernel) return define_or_raise(self, args, nargsf, keywords);
    PyObject* operands[] = {args[0], args[0], args[1]};
    if (!run(kernel.get(), operands, 3)) return nullptr;
    return Ref::borrow(args[0]).release();
}

}  // namespace

PyMethodDef elementwise_calls[] = {
    {"unary", make<Unary, call_unary>, METH_VARARGS, nullptr},
    {"binary", make<Binary, call_binary>, METH_VARARGS, nullptr},
    {"comparison", make<Comparison, call_comparison>, METH_VARARGS, nullptr},
    {"ternary", make<Ternary, call_ternary>, METH_VARARGS, nullptr},
    {"array_unary", make<OnArrays, call_unary_on_arrays>, METH_VARARGS, nullptr},
    {"array_binary", make<OnArrays, call_binary_on_arrays>, METH_VARARGS, nullptr},
    {"add_into", make<OnArrays, call_add_into>, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace autocalc::python::eager
