// SPDX-License-Identifier: MIT
//
// Functions that run the same kernels whenever their tensors have the same dtypes,
// shapes and strides and their other arguments are the same: `_ops/_remembered.py` of
// core, which says what a function promises and records what it runs.  Here the kernels
// run again.
#include <algorithm>
#include <cstring>

#include "eager/arrays.hpp"
#include "eager/calls.hpp"

namespace autocalc::python::eager {
namespace {

constexpr int max_inputs = 16, max_slots = 64, max_operands = 40, max_words = 160;
constexpr Py_ssize_t max_recipes = 4096;  // of a selection; then it begins again

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

// The arguments of a call as words, and its arrays, each once.
struct Arguments {
    npy_int64 words[max_words];
    int count = 0, n_inputs = 0;
    Ref inputs[max_inputs];
    Ref tensors[max_inputs];  // theirs, held: a list of them may change
    bool grad = false;
    PyObject* held = nullptr;  // a list of what the words point to, if wanted

    bool put(npy_int64 word) {
        if (count == max_words) return false;
        words[count++] = word;
        return true;
    }
    bool put(Tag tag, npy_int64 more) { return put(tag | more << 8); }

    bool put_place(PyObject* object) {
        npy_int64 place;
        std::memcpy(&place, static_cast<const void*>(&object), sizeof place);
        return put(place);
    }

    // A text or a dtype, by its address.
    bool put_named(PyObject* object) {
        return put(named_tag, 0) && put_place(object) &&
               (held == nullptr || PyList_Append(held, object) == 0);
    }

    bool put_tensor(PyObject* tensor) {
        PyObject* array = array_of(tensor);
        if (array == nullptr || (grad && slot(tensor, bound.edge) != Py_None)) {
            return false;
        }
        for (int i = 0; i < n_inputs; ++i) {
            if (inputs[i].get() == array)
                return tensors[i].get() == tensor && put(again_tag, i);
        }
        const Array* a = fields(array);
        if (n_inputs == max_inputs || a->nd > max_dims ||
            a->descr->type_num == NPY_HALF || a->descr->type_num > NPY_DOUBLE ||
            !put(tensor_tag, a->nd | static_cast<npy_int64>(a->descr->type_num) << 8)) {
            return false;
        }
        for (int d = 0; d < a->nd; ++d) {
            if (a->dimensions[d] == 0 || !put(a->dimensions[d]) || !put(a->strides[d]))
                return false;
        }
        tensors[n_inputs] = Ref::borrow(tensor);
        inputs[n_inputs++] = Ref::borrow(array);
        return true;
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
        if (!list && !PyTuple_CheckExact(x)) return false;
        const Py_ssize_t size = PySequence_Fast_GET_SIZE(x);
        bool known = put(list ? list_tag : tuple_tag, size);
        for (Py_ssize_t i = 0; known && i < size; ++i) {
            known = put_object(PySequence_Fast_GET_ITEM(x, i), depth + 1);
        }
        return known;
    }

    bool take(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* keywords) {
        count = n_inputs = 0;
        bool known = put_place(self) && put_place(bound.default_dtype) && put(n);
        for (Py_ssize_t i = 0; known && i < n; ++i) known = put_object(args[i]);
        const Py_ssize_t named = keywords == nullptr ? 0 : PyTuple_GET_SIZE(keywords);
        for (Py_ssize_t i = 0; known && i < named; ++i) {
            known = put_named(PyTuple_GET_ITEM(keywords, i)) && put_object(args[n + i]);
        }
        return known;
    }
};

// ---- recipes

constexpr int list_place = -2;  // of an operand: a list of slots
constexpr int max_lists = 4;    // among the operands of a kernel

enum Step { make_step, view_step, run_step, draw_step, release_step, constant_step };

struct Instruction {
    Step step;
    Ref object;  // dtype, kernel, or what draws
    int place = 0;
    std::vector<npy_intp> shape, strides;
    npy_intp offset = 0;
    bool writable = true;
    std::vector<std::pair<int, Ref>> operands;  // a slot, or -1 and an object

    bool read(PyObject* given);
    int dims() const { return static_cast<int>(shape.size()); }
};

bool read_sizes(PyObject* tuple, std::vector<npy_intp>* to) {
    const Py_ssize_t count = PyTuple_Size(tuple);
    for (Py_ssize_t i = 0; i < count; ++i) {
        to->emplace_back();
        if (!read_integer(PyTuple_GET_ITEM(tuple, i), &to->back())) return false;
    }
    return count >= 0;
}

bool Instruction::read(PyObject* given) {
    int code = 0, can_write = 1;
    PyObject *first = nullptr, *places = nullptr, *objects = nullptr;
    if (!PyArg_ParseTuple(given, "iOiOOnp", &code, &first, &place, &places, &objects,
                          &offset, &can_write)) {
        return false;
    }
    step = static_cast<Step>(code);
    object = Ref::borrow(first);
    writable = can_write != 0;
    if (step != run_step) {
        return read_sizes(places, &shape) && read_sizes(objects, &strides);
    }
    const Py_ssize_t n = PyTuple_Size(places);
    for (Py_ssize_t i = 0; i < n && n <= max_operands; ++i) {
        npy_intp from;
        if (!read_integer(PyTuple_GET_ITEM(places, i), &from)) return false;
        operands.emplace_back(static_cast<int>(from),
                              Ref::borrow(PyTuple_GET_ITEM(objects, i)));
    }
    const auto lists =
        std::count_if(operands.begin(), operands.end(),
                      [](const auto& one) { return one.first == list_place; });
    return n <= max_operands && lists <= max_lists;
}

struct Result {
    int place;
    bool has_version;
    int input;  // that it is a view of, or itself without steps; -1: it is new
    Ref steps;
};

struct Recipe {
    std::vector<Instruction> program;
    std::vector<Result> results;
    Ref result_class;      // of several results; None: one
    Ref held;              // what the key points to
    bool counted = false;  // a write in place makes a version cell
    bool returns_none = false;

    bool read(PyObject* given);
    int n_made() const {
        int count = 0;
        for (const Instruction& one : program) {
            const bool one_more = one.step <= view_step || one.step == constant_step;
            count += one.step == draw_step ? 2 : one_more;
        }
        return count;
    }
    bool run(const Context& context, Ref* slots, int used, bool* wrote) const;
    PyObject* wrap(Ref* slots, const Ref* tensors) const;
};

bool Recipe::read(PyObject* given) {
    PyObject *steps = nullptr, *places = nullptr, *cls = nullptr;
    int counts = 0, none = 0;
    if (!PyArg_ParseTuple(given, "O!O!Opp", &PyTuple_Type, &steps, &PyTuple_Type,
                          &places, &cls, &counts, &none)) {
        return false;
    }
    counted = counts != 0;
    returns_none = none != 0;
    result_class = Ref::borrow(cls);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(steps); ++i) {
        program.emplace_back();
        if (!program.back().read(PyTuple_GET_ITEM(steps, i))) return false;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(places); ++i) {
        int place = 0, has_version = 0, input = -1;
        PyObject* chain = nullptr;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(places, i), "ipiO!", &place,
                              &has_version, &input, &PyTuple_Type, &chain))
            return false;
        results.push_back({place, has_version != 0, input, Ref::borrow(chain)});
    }
    return true;
}

// A list of the arrays in these slots.
Ref list_of(PyObject* places, const Ref* slots) {
    Ref list(PyList_New(PyTuple_GET_SIZE(places)));
    for (Py_ssize_t i = 0; list && i < PyTuple_GET_SIZE(places); ++i) {
        const long place = PyLong_AsLong(PyTuple_GET_ITEM(places, i));
        PyList_SET_ITEM(list.get(), i, Ref::borrow(slots[place].get()).release());
    }
    return list;
}

bool run_operands(const Instruction& one, const Ref* slots, bool* wrote) {
    PyObject* all[max_operands];
    Ref lists[max_lists];
    Py_ssize_t count = 0;
    int listed = 0;
    for (const auto& [place, object] : one.operands) {
        PyObject* operand = object.get();
        if (place == list_place) {
            lists[listed] = list_of(operand, slots);
            operand = lists[listed].get();
            if (operand == nullptr) return false;
            ++listed;
        }
        all[count++] = place >= 0 ? slots[place].get() : operand;
    }
    if (!run(one.object.get(), all, count)) return false;
    *wrote |= one.place != 0;  // of a run: whether it writes over an input
    return true;
}

bool Recipe::run(const Context& context, Ref* slots, int used, bool* wrote) const {
    for (const Instruction& one : program) {
        bool done = true;
        if (one.step == make_step) {
            slots[used] = context.empty(one.object.get(), one.dims(), one.shape.data());
            done = static_cast<bool>(slots[used++]);
        } else if (one.step == view_step) {
            PyObject* dtype = one.object.get() == Py_None ? nullptr : one.object.get();
            slots[used] = Ref(new_array_view(slots[one.place].get(), one.dims(),
                                             one.shape.data(), one.strides.data(),
                                             one.offset, one.writable, dtype));
            done = static_cast<bool>(slots[used++]);
        } else if (one.step == run_step) {
            done = run_operands(one, slots, wrote);
        } else if (one.step == draw_step) {
            const Ref words(PyLong_FromSsize_t(one.offset));
            const Ref pair(words ? PyObject_CallOneArg(one.object.get(), words.get())
                                 : nullptr);
            done =
                pair && PyTuple_Check(pair.get()) && PyTuple_GET_SIZE(pair.get()) == 2;
            *wrote = true;
            for (int i = 0; done && i < 2; ++i) {
                slots[used++] = Ref::borrow(PyTuple_GET_ITEM(pair.get(), i));
            }
        } else if (one.step == constant_step) {
            slots[used++] = Ref::borrow(one.object.get());
        } else {
            slots[one.place] = Ref();
        }
        if (!done) return false;
    }
    return true;
}

// A result around the array in its slot.
Ref tensor_of(const Result& result, Ref* slots, const Ref* tensors) {
    Ref array = Ref::borrow(slots[result.place].get());
    if (result.input < 0) {
        Ref made(new_tensor(std::move(array)));
        PyObject* cell = made && result.has_version ? new_version() : nullptr;
        if (cell != nullptr) set_slot(made.get(), bound.version_cell, cell);
        return PyErr_Occurred() ? Ref() : std::move(made);
    }
    PyObject* x = tensors[result.input].get();
    if (PyTuple_GET_SIZE(result.steps.get()) == 0) return Ref::borrow(x);
    return Ref(new_view_by_steps(x, std::move(array), result.steps.get()));
}

PyObject* Recipe::wrap(Ref* slots, const Ref* tensors) const {
    const auto tensor = [&](std::size_t i) {
        return tensor_of(results[i], slots, tensors);
    };
    if (result_class.get() == Py_None) return tensor(0).release();
    Ref all(PyTuple_New(static_cast<Py_ssize_t>(results.size())));
    for (std::size_t i = 0; all && i < results.size(); ++i) {
        Ref one = tensor(i);
        if (!one) return nullptr;
        PyTuple_SET_ITEM(all.get(), static_cast<Py_ssize_t>(i), one.release());
    }
    if (!all || result_class.get() == reinterpret_cast<PyObject*>(&PyTuple_Type)) {
        return all.release();
    }
    return PyObject_CallObject(result_class.get(), all.get());
}

void free_recipe(PyObject* capsule) {
    delete static_cast<Recipe*>(PyCapsule_GetPointer(capsule, nullptr));
}

// ---- calls

struct Remembered : Kind {
    Ref record;
    bool in_place;

    bool read(PyObject* args) { return read_fields(args, record, in_place); }
};

// Runs the definition, and keeps what it does under the key.
PyObject* learn(PyObject* self, PyObject* table, PyObject* key, Arguments& given,
                PyObject* const* args, std::size_t nargsf, PyObject* keywords) {
    const Remembered& k = kind_of<Remembered>(self);
    const Py_ssize_t n = PyVectorcall_NARGS(nargsf);
    const Ref held(PyList_New(0)), passed = tuple_of(args, n), words(PyDict_New());
    given.held = held.get();  // and the callable, whose place is in the key, too
    if (!held || PyList_Append(held.get(), self) < 0 || !passed || !words ||
        !given.take(self, args, n, keywords))
        return nullptr;
    for (Py_ssize_t i = 0; keywords != nullptr && i < PyTuple_GET_SIZE(keywords); ++i) {
        if (PyDict_SetItem(words.get(), PyTuple_GET_ITEM(keywords, i), args[n + i]) < 0)
            return nullptr;
    }
    PyObject* arrays[max_inputs];
    for (int i = 0; i < given.n_inputs; ++i) arrays[i] = given.inputs[i].get();
    const Ref inputs = tuple_of(arrays, given.n_inputs);
    if (!inputs) return nullptr;
    PyObject* all[] = {reinterpret_cast<Callable*>(self)->definition, passed.get(),
                       words.get(), inputs.get()};
    const Ref pair(PyObject_Vectorcall(k.record.get(), all, 4, nullptr));
    if (!pair) return nullptr;
    PyObject* result = PyTuple_GET_ITEM(pair.get(), 0);
    PyObject* told = PyTuple_GET_ITEM(pair.get(), 1);
    Ref kept = Ref::borrow(Py_None);  // never again
    if (told != Py_None) {
        auto recipe = std::make_unique<Recipe>();
        if (!recipe->read(told)) return nullptr;
        if (given.n_inputs + recipe->n_made() > max_slots) {
            PyErr_SetString(PyExc_ValueError, "a recipe makes too many arrays");
            return nullptr;
        }
        recipe->held = Ref::borrow(held.get());
        kept = Ref(PyCapsule_New(recipe.get(), nullptr, free_recipe));
        if (!kept) return nullptr;
        [[maybe_unused]] const auto* held = recipe.release();  // the capsule's now
    }
    if (PyDict_SetItem(table, key, kept.get()) < 0) return nullptr;
    return Ref::borrow(result).release();
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
    if (one.hash != hash) one = {hash, 0};
    return ++one.count >= often;
}

// Whether the first argument may be written while the others are read.
bool may_write(PyObject* x, const Arguments& given, const Context& context) {
    const Array* a = writable(x, context);
    for (int i = 1; a != nullptr && i < given.n_inputs; ++i) {
        if (overlap(a, fields(given.inputs[i].get()))) return false;
    }
    return a != nullptr;
}

PyObject* call_remembered(PyObject* self, PyObject* const* args, std::size_t nargsf,
                          PyObject* keywords) {
    const Remembered& k = kind_of<Remembered>(self);
    const Py_ssize_t n = PyVectorcall_NARGS(nargsf);
    const Context context;
    if (!context) return nullptr;
    const Ref table = Ref::borrow(slot(context.selection(), bound.remembered));
    Arguments given;
    given.grad = context.grad();
    if (bound.paused || table.get() == Py_None ||
        !given.take(self, args, n, keywords) ||
        (k.in_place && (n == 0 || !may_write(args[0], given, context)))) {
        return define_or_raise(self, args, nargsf, keywords);
    }
    if (k.in_place && !given.put(slot(args[0], bound.version_cell) != Py_None)) {
        return define(self, args, nargsf, keywords);
    }
    const Ref key(PyBytes_FromStringAndSize(reinterpret_cast<char*>(given.words),
                                            given.count * 8));
    if (!key) return nullptr;
    const Ref found = Ref::borrow(PyDict_GetItemWithError(table.get(), key.get()));
    if (!found && is_frequent(key.get())) {
        if (PyDict_GET_SIZE(table.get()) >= max_recipes) PyDict_Clear(table.get());
        return learn(self, table.get(), key.get(), given, args, nargsf, keywords);
    }
    if (!found || found.get() == Py_None)
        return define_or_raise(self, args, nargsf, keywords);
    const auto* recipe =
        static_cast<const Recipe*>(PyCapsule_GetPointer(found.get(), nullptr));
    if (recipe == nullptr) return nullptr;
    Ref slots[max_slots];
    for (int i = 0; i < given.n_inputs; ++i) slots[i] = std::move(given.inputs[i]);
    bool wrote = false;
    if (!recipe->run(context, slots, given.n_inputs, &wrote)) {
        // The definition says what is wrong, as of a label that is out of range.
        if (wrote || !PyErr_ExceptionMatches(PyExc_Exception)) return nullptr;
        PyErr_Clear();
        return define(self, args, nargsf, keywords);
    }
    if (!k.in_place) return recipe->wrap(slots, given.tensors);
    if (recipe->counted && version_of(args[0]) == nullptr) return nullptr;
    if (!bump(args[0])) return nullptr;
    return recipe->returns_none ? new_none() : Ref::borrow(args[0]).release();
}

}  // namespace

PyMethodDef remembered_calls[] = {
    {"remembered", make<Remembered, call_remembered>, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace autocalc::python::eager
