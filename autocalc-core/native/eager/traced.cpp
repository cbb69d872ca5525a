// SPDX-License-Identifier: MIT
//
// Functions that run the same kernels whenever their tensors have the same dtypes,
// shapes and strides and their other arguments are the same: `_ops/_operator/traced.py`
// of core, which says what a function promises and records what it runs.  Here the key
// of a call is made, and its short program is looked up and run.
#include <cstring>

#include "eager/calls.hpp"
#include "program/short_program.hpp"

namespace autocalc::python::eager {
namespace {

using program::max_inputs;
using program::ShortProgram;

constexpr int max_words = 160;
constexpr Py_ssize_t max_programs = 4096;  // of a selection; then it begins again

// ---- keys

enum Tag {
    tensor_tag = 1,
    again_tag,
    none_tag,
    true_tag,
    false_tag,
    integer_tag,
    float_tag,
    named_tag,
    tuple_tag,
    list_tag,
    slice_tag,
    ellipsis_tag
};

// The arguments of a call as words, and its arrays.
struct Arguments {
    npy_int64 words[max_words];
    int count = 0;
    // The arrays, each once; then what the program makes.
    Objects<program::max_registers> inputs;
    Objects<max_inputs> tensors;  // theirs, held: a list of them may change
    bool grad = false;
    bool views = false;       // the function returns views of its tensors in most calls
    bool only_views = false;  // nothing but those may be made of them
    PyObject* held = nullptr;  // a list of what the words point to, if wanted

    bool put(npy_int64 word) {
        if (count == max_words) return false;
        words[count++] = word;
        return true;
    }
    bool put(Tag tag, npy_int64 more) { return put(tag | more << 8); }

    bool put_address(PyObject* object) {
        return put(reinterpret_cast<npy_intp>(object));
    }

    // A text or a dtype, by its address.
    bool put_named(PyObject* object) {
        return put(named_tag, 0) && put_address(object) &&
               (held == nullptr || PyList_Append(held, object) == 0);
    }

    // Whether kernels take arrays of a dtype as they are, and next to numbers.
    static bool is_common(int type) { return type <= NPY_DOUBLE; }

    bool put_tensor(PyObject* tensor) {
        PyObject* array = array_of(tensor);
        if (array == nullptr) return false;
        only_views |= (grad && slot(tensor, bound.edge) != Py_None) ||
                      !is_common(fields(array)->descr->type_num);
        if (only_views && !views) return false;
        for (int i = 0; i < inputs.used; ++i) {
            if (inputs.at[i] == array)
                return tensors.at[i] == tensor && put(again_tag, i);
        }
        const Array* a = fields(array);
        const npy_int64 writable = (a->flags & NPY_ARRAY_WRITEABLE) != 0;
        const npy_int64 type = a->descr->type_num;
        if (inputs.used == max_inputs || a->nd > max_dims ||
            !put(tensor_tag, a->nd | writable << 7 | type << 8)) {
            return false;
        }
        for (int d = 0; d < a->nd; ++d) {
            if (a->dimensions[d] == 0 || !put(a->dimensions[d]) || !put(a->strides[d]))
                return false;
        }
        return tensors.add(Ref::borrow(tensor)) && inputs.add(Ref::borrow(array));
    }

    bool put_float(double value) {
        npy_int64 bits;
        std::memcpy(&bits, &value, sizeof bits);
        return put(float_tag, 0) && put(bits);
    }

    static bool is_dtype_of_core(PyObject* x) {
        return Py_TYPE(x) == Py_TYPE(bound.default_dtype);
    }

    // False for what no key tells apart: the definition runs.
    // NOLINTNEXTLINE(misc-no-recursion): lists in lists, to a depth of 3
    bool put_object(PyObject* x, int depth = 0) {
        if (is_tensor(x)) return put_tensor(x);
        if (x == Py_None) return put(none_tag, 0);
        if (x == Py_True) return put(true_tag, 0);
        if (x == Py_False) return put(false_tag, 0);
        npy_intp integer;
        if (read_integer(x, &integer)) return put(integer_tag, 0) && put(integer);
        if (PyFloat_CheckExact(x)) return put_float(PyFloat_AS_DOUBLE(x));
        if (PyUnicode_CheckExact(x) || is_dtype_of_core(x)) return put_named(x);
        if (x == Py_Ellipsis) return put(ellipsis_tag, 0);
        if (depth == 3) return false;
        if (PySlice_Check(x)) {
            const auto* s = reinterpret_cast<PySliceObject*>(x);
            return put(slice_tag, 0) && put_object(s->start, 3) &&
                   put_object(s->stop, 3) && put_object(s->step, 3);
        }
        const bool list = PyList_CheckExact(x);
        if (!list && !PyTuple_CheckExact(x) && Py_TYPE(x) != bound.size) return false;
        const Py_ssize_t size = PySequence_Fast_GET_SIZE(x);
        bool known = put(list ? list_tag : tuple_tag, size);
        for (Py_ssize_t i = 0; known && i < size; ++i) {
            known = put_object(PySequence_Fast_GET_ITEM(x, i), depth + 1);
        }
        return known;
    }

    bool take(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* keywords) {
        bool known = put_address(self) && put_address(bound.default_dtype) && put(n);
        for (Py_ssize_t i = 0; known && i < n; ++i) known = put_object(args[i]);
        const Py_ssize_t named = keywords == nullptr ? 0 : PyTuple_GET_SIZE(keywords);
        for (Py_ssize_t i = 0; known && i < named; ++i) {
            known = put_named(PyTuple_GET_ITEM(keywords, i)) && put_object(args[n + i]);
        }
        return known && put(only_views);
    }

    // Whether the first argument may be written while the others are read; adds whether
    // anybody counts that.
    bool may_write(PyObject* x, const Context& context) {
        const Array* a = writable(x, context);
        for (int i = 1; a != nullptr && i < inputs.used; ++i) {
            if (overlap(a, fields(inputs.at[i]))) return false;
        }
        return a != nullptr && put(slot(x, bound.version_cell) != Py_None);
    }

    Py_ssize_t size() const { return count * Py_ssize_t{sizeof words[0]}; }
    Ref key() const {
        return Ref(
            PyBytes_FromStringAndSize(reinterpret_cast<const char*>(words), size()));
    }
    bool is(PyObject* key) const {
        return key != nullptr && PyBytes_GET_SIZE(key) == size() &&
               std::memcmp(PyBytes_AS_STRING(key), words,
                           static_cast<std::size_t>(size())) == 0;
    }
};

// ---- calls

struct Traced : Kind {
    Ref record;
    bool in_place, views;
    // The last program, which most calls run again: to make a key, hash it and look it
    // up takes 70 ns.
    struct Last {
        Ref table, key, program;
    };
    mutable Last last;

    void read(const py::args& args) { read_fields(args, record, in_place, views); }
};

void free_program(PyObject* capsule) {
    delete static_cast<ShortProgram*>(PyCapsule_GetPointer(capsule, nullptr));
}

// What is kept of a call: a capsule, or None where nothing repeats it.
Ref kept_of(PyObject* recorded, PyObject* held, int n_inputs) {
    if (recorded == Py_None) return Ref::borrow(Py_None);
    auto program = ShortProgram::read(recorded, n_inputs);
    if (program == nullptr) return {};
    program->held = Ref::borrow(held);
    Ref kept(PyCapsule_New(program.get(), nullptr, free_program));
    if (!kept) return {};
    [[maybe_unused]] const auto* owned = program.release();  // the capsule's now
    return kept;
}

// Runs the definition, and keeps what it does under the key.
PyObject* learn(PyObject* self, PyObject* table, PyObject* key, const Arguments& was,
                PyObject* const* args, Py_ssize_t n, PyObject* keywords) {
    const Ref held(PyList_New(0)), passed = tuple_of(args, n);
    Arguments given;
    given.grad = was.grad;
    given.views = was.views;
    given.held = held.get();  // and the callable, whose address is in the key, too
    if (!held || PyList_Append(held.get(), self) < 0 || !passed ||
        !given.take(self, args, n, keywords))
        return nullptr;
    const Ref inputs = tuple_of(given.inputs.at, given.inputs.used);
    if (!inputs) return nullptr;
    std::vector<PyObject*> all = {reinterpret_cast<Callable*>(self)->definition,
                                  passed.get(), inputs.get()};
    all.insert(all.end(), args + n,
               args + n + (keywords == nullptr ? 0 : PyTuple_GET_SIZE(keywords)));
    const Ref pair(PyObject_Vectorcall(kind_of<Traced>(self).record.get(), all.data(),
                                       3, keywords));
    if (!pair) return nullptr;
    const Ref kept =
        kept_of(PyTuple_GET_ITEM(pair.get(), 1), held.get(), given.inputs.used);
    if (PyDict_GET_SIZE(table) >= max_programs) PyDict_Clear(table);
    if (!kept || PyDict_SetItem(table, key, kept.get()) < 0) return nullptr;
    return Ref::borrow(PyTuple_GET_ITEM(pair.get(), 0)).release();
}

// Counts how often a key came, roughly; true where it is worth to learn what it runs,
// which takes as long as a hundred calls.  Shapes that grow from call to call, as in a
// loop that generates text, do not come so often.
bool is_frequent(PyObject* key) {
    constexpr int often = 32;
    constexpr std::size_t places = 4096;
    static struct {
        Py_hash_t hash;
        int count;
    } seen[places];
    const Py_hash_t hash = PyErr_Occurred() ? -1 : PyObject_Hash(key);
    if (hash == -1) return false;
    const auto bits = static_cast<std::size_t>(hash);
    auto &first = seen[bits % places], &second = seen[bits / places % places];
    auto& rarer = first.count < second.count ? first : second;
    auto& other = second.hash == hash ? second : rarer;
    auto& one = first.hash == hash ? first : other;
    if (one.hash != hash) {  // two new keys would put each other out for ever
        auto& old = &one == &first ? second : first;
        if (old.count > 0) --old.count;
        one = {hash, 0};
    }
    if (++one.count < often) return false;
    one = {};  // it is learned, and does not come here again
    return true;
}

PyObject* call_traced(PyObject* self, PyObject* const* args, std::size_t nargsf,
                      PyObject* keywords) {
    const Traced& k = kind_of<Traced>(self);
    const Py_ssize_t n = PyVectorcall_NARGS(nargsf);
    const Context context;
    if (!context) return nullptr;
    const Ref table = Ref::borrow(slot(context.selection(), bound.remembered));
    Arguments given;
    given.grad = context.grad();
    given.views = k.views;
    if (bound.paused || table.get() == Py_None || context.casts() ||
        !given.take(self, args, n, keywords) ||
        (k.in_place && (n == 0 || !given.may_write(args[0], context)))) {
        return define_or_raise(self, args, nargsf, keywords);
    }
    Ref found;
    if (k.last.table.get() == table.get() && given.is(k.last.key.get())) {
        found = Ref::borrow(k.last.program.get());
    } else {
        Ref key = given.key();
        if (!key) return nullptr;
        found = Ref::borrow(PyDict_GetItemWithError(table.get(), key.get()));
        if (!found && is_frequent(key.get())) {
            return learn(self, table.get(), key.get(), given, args, n, keywords);
        }
        if (!found || found.get() == Py_None)
            return define_or_raise(self, args, nargsf, keywords);
        // What goes may run Python, and this call: all three are replaced before.
        const Traced::Last before = std::exchange(
            k.last,
            {Ref::borrow(table.get()), std::move(key), Ref::borrow(found.get())});
    }
    const auto* known =
        static_cast<const ShortProgram*>(PyCapsule_GetPointer(found.get(), nullptr));
    if (known == nullptr) return nullptr;
    if (given.only_views && !known->only_views) {
        return define(self, args, nargsf, keywords);
    }
    const int n_inputs = given.inputs.used;
    for (int i = 0; i < known->n_made; ++i) given.inputs.add(Ref());
    bool wrote = false;
    if (!execute(known->steps, given.inputs.at, n_inputs, &context, &wrote)) {
        // The definition says what is wrong, as of a label that is out of range.
        if (wrote || !PyErr_ExceptionMatches(PyExc_Exception)) return nullptr;
        PyErr_Clear();
        return define(self, args, nargsf, keywords);
    }
    if (!k.in_place) return known->wrap(given.inputs.at, given.tensors.at, given.grad);
    if (known->counted && version_of(args[0]) == nullptr) return nullptr;
    if (!bump(args[0])) return nullptr;
    return known->returns_none ? new_none() : Ref::borrow(args[0]).release();
}

}  // namespace

void add_traced(py::module_& calls) { add_kind<Traced>(calls, "traced", call_traced); }

}  // namespace autocalc::python::eager
