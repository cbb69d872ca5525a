/* SPDX-License-Identifier: MIT
 *
 * From Python's arguments to an `ac_call`: what the fast entry of kernels
 * (`autocalc_kernel_python.h`) and native replay have in common.
 *
 * A source file that includes it calls `ac_py_prepare()` once before anything else.
 */
#ifndef AUTOCALC_KERNEL_ARGUMENTS_H
#define AUTOCALC_KERNEL_ARGUMENTS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdlib.h>
#include <string.h>

#ifndef NPY_NO_DEPRECATED_API
#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#endif
#include <numpy/ndarraytypes.h>

#include "autocalc_kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

#define AC_PYTHON_CAPSULE "autocalc.kernel"
#define AC_PY_NUMPY_TYPES 24  /* built-in type numbers of NumPy, 1.x and 2.x */
#define AC_PYTHON_MAX_INTS 32 /* numbers in all `ints` attributes of a call */
#define AC_PYTHON_RELEASE_NS \
    100000.0 /* longer calls run without the interpreter lock */

/* ---- the signature, read once */

enum { AC_PY_INT, AC_PY_FLOAT, AC_PY_BOOL, AC_PY_INTS, AC_PY_CHOICE };

typedef struct ac_py_signature {
    int n_outputs, n_inputs, n_operands, n_attributes;
    int elementwise, has_lists;
    unsigned char optional[AC_MAX_OPERANDS];
    unsigned char is_list[AC_MAX_OPERANDS];
    unsigned char attribute_type[AC_MAX_ATTRIBUTES];
    PyObject* operand_name[AC_MAX_OPERANDS];
    PyObject* attribute_name[AC_MAX_ATTRIBUTES];
    PyObject* choices[AC_MAX_ATTRIBUTES]; /* tuple of interned str */
} ac_py_signature;

/* An entry with its signature. */
typedef struct ac_py_callee {
    const ac_kernel_entry* entry;
    ac_py_signature signature;
} ac_py_callee;

static PyTypeObject* ac_py_ndarray = NULL;
static signed char ac_py_dtypes[AC_PY_NUMPY_TYPES];
static int ac_py_bfloat16 = -1; /* its type number, which NumPy gave to ml_dtypes */

static inline PyObject* ac_py_word(const char* begin, const char* end) {
    return PyUnicode_FromStringAndSize(begin, (Py_ssize_t)(end - begin));
}

static inline PyObject* ac_py_choices(const char* text, const char* end) {
    PyObject* words = PyList_New(0);
    PyObject* result = NULL;
    while (words != NULL && text < end) {
        const char* comma = text;
        PyObject* word;
        int failed;
        while (comma < end && *comma != ',') ++comma;
        word = ac_py_word(text, comma);
        if (word == NULL) break;
        PyUnicode_InternInPlace(&word);
        failed = PyList_Append(words, word);
        Py_DECREF(word);
        if (failed) break;
        text = comma + 1;
    }
    if (words != NULL && !PyErr_Occurred()) result = PyList_AsTuple(words);
    Py_XDECREF(words);
    return result;
}

static inline int ac_py_add_operand(ac_py_signature* s, const char* text,
                                    const char* end, int is_output) {
    const int i = s->n_operands;
    if (i == AC_MAX_OPERANDS) return -1;
    for (; end > text && (end[-1] == '?' || end[-1] == '*'); --end) {
        if (end[-1] == '?') s->optional[i] = 1;
        if (end[-1] == '*') s->is_list[i] = 1, s->has_lists = 1;
    }
    s->operand_name[i] = ac_py_word(text, end);
    s->n_operands = i + 1;
    if (is_output)
        ++s->n_outputs;
    else
        ++s->n_inputs;
    return s->operand_name[i] == NULL ? -1 : 0;
}

static inline int ac_py_is(const char* text, const char* end, const char* word) {
    const size_t length = (size_t)(end - text);
    return length == strlen(word) && memcmp(text, word, length) == 0;
}

static inline int ac_py_add_attribute(ac_py_signature* s, const char* text,
                                      const char* end) {
    const int i = s->n_attributes;
    const char* colon = text;
    while (colon < end && *colon != ':') ++colon;
    if (i == AC_MAX_ATTRIBUTES || colon == end) return -1;
    s->attribute_name[i] = ac_py_word(text, colon);
    s->n_attributes = i + 1;
    ++colon;
    if (ac_py_is(colon, end, "int"))
        s->attribute_type[i] = AC_PY_INT;
    else if (ac_py_is(colon, end, "float"))
        s->attribute_type[i] = AC_PY_FLOAT;
    else if (ac_py_is(colon, end, "bool"))
        s->attribute_type[i] = AC_PY_BOOL;
    else if (ac_py_is(colon, end, "ints"))
        s->attribute_type[i] = AC_PY_INTS;
    else {
        s->attribute_type[i] = AC_PY_CHOICE;
        s->choices[i] = ac_py_choices(colon, end);
        if (s->choices[i] == NULL) return -1;
    }
    return s->attribute_name[i] == NULL ? -1 : 0;
}

static inline int ac_py_parse(ac_py_signature* s, const char* text) {
    int part = 0;
    if (*text == '~') s->elementwise = 1, ++text;
    while (*text) {
        const char* end = text;
        int failed = 0;
        while (*end && *end != ' ') ++end;
        if (end > text) {
            if (*text == ';')
                ++part;
            else if (part == 2)
                failed = ac_py_add_attribute(s, text, end);
            else
                failed = ac_py_add_operand(s, text, end, part == 0);
        }
        if (failed || part > 2) return -1;
        text = *end ? end + 1 : end;
    }
    return part >= 1 && s->n_outputs > 0 ? 0 : -1;
}

static inline void ac_py_clear_signature(ac_py_signature* s) {
    int i;
    for (i = 0; i < AC_MAX_OPERANDS; ++i) Py_CLEAR(s->operand_name[i]);
    for (i = 0; i < AC_MAX_ATTRIBUTES; ++i) Py_CLEAR(s->attribute_name[i]);
    for (i = 0; i < AC_MAX_ATTRIBUTES; ++i) Py_CLEAR(s->choices[i]);
}

/* Reads the signature of `entry`: 0, or -1 with an exception. */
static inline int ac_py_read_signature(ac_py_callee* k, const ac_kernel_entry* entry) {
    memset(&k->signature, 0, sizeof k->signature);
    k->entry = entry;
    if (ac_py_parse(&k->signature, entry->signature) == 0) return 0;
    if (!PyErr_Occurred()) {
        PyErr_Format(PyExc_ValueError, "%s: `%s` is not a kernel signature",
                     entry->name, entry->signature);
    }
    return -1;
}

/* ---- what NumPy calls them */

static inline void ac_py_map_dtypes(void) {
    memset(ac_py_dtypes, -1, sizeof ac_py_dtypes);
    ac_py_dtypes[NPY_BOOL] = AC_BOOL;
    ac_py_dtypes[NPY_BYTE] = AC_INT8;
    ac_py_dtypes[NPY_UBYTE] = AC_UINT8;
    ac_py_dtypes[NPY_SHORT] = AC_INT16;
    ac_py_dtypes[NPY_INT] = AC_INT32;
    ac_py_dtypes[NPY_LONG] = sizeof(long) == 8 ? AC_INT64 : AC_INT32;
    ac_py_dtypes[NPY_LONGLONG] = AC_INT64;
    ac_py_dtypes[NPY_FLOAT] = AC_FLOAT32;
    ac_py_dtypes[NPY_DOUBLE] = AC_FLOAT64;
    ac_py_dtypes[NPY_HALF] = AC_FLOAT16;
}

/* The ac_dtype of a type number of NumPy, or -1. */
static inline int ac_py_dtype_of(int type) {
    if ((unsigned)type < AC_PY_NUMPY_TYPES) return ac_py_dtypes[type];
    return type == ac_py_bfloat16 ? AC_BFLOAT16 : -1;
}

/* Finds the number of bfloat16; -1 with an exception. */
static inline int ac_py_find_bfloat16(PyObject* numpy) {
    PyObject* module = PyImport_ImportModule("ml_dtypes");
    PyObject* type = module == NULL ? NULL : PyObject_GetAttrString(module, "bfloat16");
    PyObject* dtype =
        type == NULL ? NULL : PyObject_CallMethod(numpy, "dtype", "O", type);
    if (dtype != NULL) ac_py_bfloat16 = ((const PyArray_Descr*)dtype)->type_num;
    Py_XDECREF(module);
    Py_XDECREF(type);
    Py_XDECREF(dtype);
    return dtype == NULL ? -1 : 0;
}

/* 0, or -1 with an exception. */
static inline int ac_py_prepare(void) {
    PyObject* numpy;
    if (ac_py_ndarray != NULL) return 0;
    numpy = PyImport_ImportModule("numpy");
    if (numpy == NULL) return -1;
    ac_py_map_dtypes();
    if (ac_py_find_bfloat16(numpy) < 0) {
        Py_DECREF(numpy);
        return -1;
    }
    ac_py_ndarray = (PyTypeObject*)PyObject_GetAttrString(numpy, "ndarray");
    Py_DECREF(numpy);
    return ac_py_ndarray == NULL ? -1 : 0;
}

/* ---- operands */

static inline int ac_py_bad_operand(const ac_py_callee* k, int i, PyObject* object,
                                    int is_output) {
    const char* name = k->entry->name;
    PyObject* operand = k->signature.operand_name[i];
    const PyArrayObject_fields* a = (const PyArrayObject_fields*)object;
    int d;
    if (Py_TYPE(object) != ac_py_ndarray) {
        return PyErr_Format(PyExc_TypeError,
                            "%s: `%U` is a %s, but a numpy.ndarray is needed", name,
                            operand, Py_TYPE(object)->tp_name),
               -1;
    }
    if (a->nd > AC_MAX_DIMS) {
        return PyErr_Format(PyExc_ValueError,
                            "%s: `%U` has %d dimensions, but at most %d are possible",
                            name, operand, a->nd, AC_MAX_DIMS),
               -1;
    }
    if (is_output && !(a->flags & NPY_ARRAY_WRITEABLE)) {
        return PyErr_Format(PyExc_ValueError, "%s: output `%U` is read-only", name,
                            operand),
               -1;
    }
    if (!(a->flags & NPY_ARRAY_ALIGNED)) {
        return PyErr_Format(PyExc_ValueError,
                            "%s: the elements of `%U` are not aligned; copy it first",
                            name, operand),
               -1;
    }
    for (d = 0; d < a->nd; ++d) {
        if (a->strides[d] < 0) {
            return PyErr_Format(PyExc_ValueError,
                                "%s: `%U` has stride %zd in dimension %d, but strides "
                                "must not be "
                                "negative; copy it first",
                                name, operand, (Py_ssize_t)a->strides[d], d),
                   -1;
        }
    }
    return PyErr_Format(PyExc_TypeError,
                        "%s: `%U` has dtype %R, but a float, signed integer, uint8 or "
                        "bool dtype of native "
                        "byte order is needed",
                        name, operand, (PyObject*)a->descr),
           -1;
}

/* Fills `out` and answers the number of elements, or -1 with an exception. */
static inline int64_t ac_py_array(const ac_py_callee* k, int i, PyObject* object,
                                  ac_array* out, int is_output) {
    const PyArrayObject_fields* a = (const PyArrayObject_fields*)object;
    const int need =
        is_output ? NPY_ARRAY_ALIGNED | NPY_ARRAY_WRITEABLE : NPY_ARRAY_ALIGNED;
    int64_t count = 1, sign = 0;
    int d;
    if (Py_TYPE(object) != ac_py_ndarray || (a->flags & need) != need ||
        a->nd > AC_MAX_DIMS) {
        return ac_py_bad_operand(k, i, object, is_output);
    }
    out->dtype = ac_py_dtype_of(a->descr->type_num);
    if (out->dtype < 0 || (a->descr->byteorder != '=' && a->descr->byteorder != '|')) {
        return ac_py_bad_operand(k, i, object, is_output);
    }
    out->data = a->data;
    out->ndim = a->nd;
    out->present = 1;
    out->reserved = 0;
    for (d = 0; d < a->nd; ++d) {
        out->shape[d] = a->dimensions[d];
        out->strides[d] = a->strides[d];
        count *= a->dimensions[d];
        sign |= a->strides[d];
    }
    return sign < 0 ? ac_py_bad_operand(k, i, object, is_output) : count;
}

static inline PyObject* ac_py_shape(const ac_array* a) {
    PyObject* shape = PyTuple_New(a->ndim);
    int d;
    for (d = 0; shape != NULL && d < a->ndim; ++d) {
        PyObject* n = PyLong_FromLongLong(a->shape[d]);
        if (n == NULL)
            Py_CLEAR(shape);
        else
            PyTuple_SET_ITEM(shape, d, n);
    }
    return shape;
}

/* Gives `a` the shape of `out`, with stride 0 where one element stands for many. */
static inline int ac_py_expand(const ac_py_callee* k, int i, ac_array* a,
                               const ac_array* out) {
    const int dims = out->ndim, missing = dims - a->ndim;
    PyObject *from, *to;
    int d;
    if (missing >= 0 && dims <= AC_MAX_DIMS) {
        for (d = dims; d > 0; --d) {
            const int at = d - 1;
            const int64_t size = at >= missing ? a->shape[at - missing] : 1;
            if (size != out->shape[at] && size != 1) break;
            a->strides[at] =
                size == out->shape[at] && at >= missing ? a->strides[at - missing] : 0;
        }
        if (d == 0) {
            a->ndim = dims;
            memcpy(a->shape, out->shape, sizeof(int64_t) * (size_t)dims);
            return 0;
        }
    }
    from = ac_py_shape(a);
    to = ac_py_shape(out);
    if (from != NULL && to != NULL) {
        PyErr_Format(PyExc_ValueError,
                     "%s: `%U` of shape %R does not broadcast to the output's shape %R",
                     k->entry->name, k->signature.operand_name[i], from, to);
    }
    Py_XDECREF(from);
    Py_XDECREF(to);
    return -1;
}

static inline int ac_py_same_shape(const ac_array* a, const ac_array* b) {
    int d;
    if (a->ndim != b->ndim) return 0;
    for (d = 0; d < a->ndim; ++d) {
        if (a->shape[d] != b->shape[d]) return 0;
    }
    return 1;
}

/* ---- attributes */

static inline int ac_py_choice(const ac_py_callee* k, int i, PyObject* object,
                               ac_attribute* out) {
    PyObject* words = k->signature.choices[i];
    const Py_ssize_t count = PyTuple_GET_SIZE(words);
    Py_ssize_t c;
    for (c = 0; c < count; ++c) {
        if (PyTuple_GET_ITEM(words, c) == object) return out->v.i = c, 0;
    }
    for (c = 0; PyUnicode_Check(object) && c < count; ++c) {
        if (PyUnicode_Compare(PyTuple_GET_ITEM(words, c), object) == 0)
            return out->v.i = c, 0;
    }
    PyErr_Format(PyExc_ValueError, "%s: `%U` is %R, but one of %R is needed",
                 k->entry->name, k->signature.attribute_name[i], object, words);
    return -1;
}

static inline int ac_py_ints(const ac_py_callee* k, int i, PyObject* object,
                             ac_attribute* out, int64_t* room, int* used) {
    Py_ssize_t count, j;
    if (!PyTuple_Check(object) ||
        PyTuple_GET_SIZE(object) > AC_PYTHON_MAX_INTS - *used) {
        PyErr_Format(PyExc_TypeError,
                     "%s: `%U` is %R, but a tuple of at most %d integers is needed",
                     k->entry->name, k->signature.attribute_name[i], object,
                     AC_PYTHON_MAX_INTS);
        return -1;
    }
    count = PyTuple_GET_SIZE(object);
    out->v.list.values = room + *used;
    out->v.list.count = count;
    for (j = 0; j < count; ++j) {
        room[*used] = PyLong_AsLongLong(PyTuple_GET_ITEM(object, j));
        if (room[(*used)++] == -1 && PyErr_Occurred()) return -1;
    }
    return 0;
}

static inline int ac_py_attribute(const ac_py_callee* k, int i, PyObject* object,
                                  ac_attribute* out, int64_t* room, int* used) {
    switch (k->signature.attribute_type[i]) {
        case AC_PY_INT:
            out->v.i = PyLong_AsLongLong(object);
            return out->v.i == -1 && PyErr_Occurred() ? -1 : 0;
        case AC_PY_FLOAT:
            if (PyFloat_CheckExact(object))
                return out->v.f = PyFloat_AS_DOUBLE(object), 0;
            out->v.f = PyFloat_AsDouble(object);
            return out->v.f == -1.0 && PyErr_Occurred() ? -1 : 0;
        case AC_PY_BOOL:
            if (object == Py_True || object == Py_False)
                return out->v.i = object == Py_True, 0;
            out->v.i = PyObject_IsTrue(object);
            return out->v.i < 0 ? -1 : 0;
        case AC_PY_INTS:
            return ac_py_ints(k, i, object, out, room, used);
        default:
            return ac_py_choice(k, i, object, out);
    }
}

/* ---- the call */

static inline PyObject* ac_py_raise(const ac_py_callee* k, const ac_status* status) {
    PyObject *errors, *error = NULL;
    int which;
    if (status->code == AC_NO_MEMORY) return PyErr_NoMemory();
    errors = PyImport_ImportModule("autocalc.errors");
    if (errors == NULL) return NULL;
    which = status->operand % AC_MAX_OPERANDS;
    if (status->code == AC_BAD_VALUE && which >= 0 && which < k->signature.n_operands) {
        PyObject* name = k->signature.operand_name[which];
        name = k->signature.is_list[which]
                   ? PyUnicode_FromFormat("%U[%d]", name,
                                          (int)(status->operand / AC_MAX_OPERANDS))
                   : PyUnicode_FromObject(name);
        error = name == NULL
                    ? NULL
                    : PyObject_CallMethod(
                          errors, "kernel_data_error", "sNLL", k->entry->name, name,
                          (long long)status->index, (long long)status->value);
    } else {
        error = PyObject_CallMethod(
            errors, "KernelError", "N",
            PyUnicode_FromFormat("%s: the kernel cannot run this call (status %d); "
                                 "its `supports` should have refused it",
                                 k->entry->name, status->code));
    }
    if (error != NULL) PyErr_SetObject((PyObject*)Py_TYPE(error), error);
    Py_XDECREF(error);
    Py_DECREF(errors);
    return NULL;
}

typedef struct ac_py_attributes {
    ac_attribute values[AC_MAX_ATTRIBUTES];
    int64_t ints[AC_PYTHON_MAX_INTS];
} ac_py_attributes;

static inline int ac_py_read_attributes(const ac_py_callee* k, PyObject* const* objects,
                                        ac_py_attributes* out) {
    int used = 0, i;
    for (i = 0; i < k->signature.n_attributes; ++i) {
        if (ac_py_attribute(k, i, objects[i], &out->values[i], out->ints, &used) < 0)
            return -1;
    }
    return 0;
}

static inline void ac_py_make_call(const ac_py_callee* k, const ac_operand* operands,
                                   const ac_py_attributes* attributes, ac_call* call) {
    call->size = sizeof *call;
    call->version = AC_KERNEL_API_VERSION;
    call->n_outputs = k->signature.n_outputs;
    call->n_inputs = k->signature.n_inputs;
    call->n_attributes = k->signature.n_attributes;
    call->reserved = 0;
    call->operands = operands;
    call->attributes = attributes->values;
}

/* Nanoseconds; `elements` is the size of the largest operand. */
static inline double ac_py_cost(const ac_py_callee* k, const ac_call* call,
                                int64_t elements) {
    return k->entry->work != NULL ? k->entry->work(call)
                                  : k->entry->ns_per_element * (double)elements;
}

static inline int ac_py_absent(const ac_py_callee* k, int i, ac_array* out) {
    if (!k->signature.optional[i]) {
        PyErr_Format(PyExc_TypeError,
                     "%s: `%U` is None, but this operand is not optional",
                     k->entry->name, k->signature.operand_name[i]);
        return -1;
    }
    out->data = NULL;
    out->dtype = 0;
    out->ndim = 0;
    out->present = 0;
    out->reserved = 0;
    return 0;
}

/* Whether a table entry lists a dtype; none listed are all but those of 16 bits. */
static inline int ac_py_takes(const ac_kernel_entry* entry, int dtype) {
    const uint32_t halves = 1u << AC_BFLOAT16 | 1u << AC_FLOAT16;
    const uint32_t dtypes = entry->dtypes == 0 ? ~halves : entry->dtypes;
    return dtype >= 0 && (dtypes >> dtype & 1u) != 0;
}

/* The dtypes of the table entry are those of the first input that is present. */
static inline int ac_py_check_dtype(const ac_py_callee* k, const ac_operand* operands) {
    const ac_py_signature* s = &k->signature;
    int i;
    for (i = s->n_outputs; i < s->n_operands; ++i) {
        if (operands[i].count == 0 || !operands[i].arrays->present) continue;
        if (ac_py_takes(k->entry, operands[i].arrays->dtype)) return 0;
        PyErr_Format(PyExc_TypeError, "%s: this kernel does not take the dtype of `%U`",
                     k->entry->name, s->operand_name[i]);
        return -1;
    }
    return 0;
}

/* ---- operands that are lists */

static inline Py_ssize_t ac_py_list_size(const ac_py_callee* k, int i,
                                         PyObject* object) {
    if (!k->signature.is_list[i]) return 1;
    if (PyList_Check(object) || PyTuple_Check(object))
        return PySequence_Fast_GET_SIZE(object);
    PyErr_Format(
        PyExc_TypeError, "%s: `%U` is a %s, but a list or tuple of arrays is needed",
        k->entry->name, k->signature.operand_name[i], Py_TYPE(object)->tp_name);
    return -1;
}

/* The operands of one call.  Its caller owns the lists, but not what is in them: while
 * the kernel runs without the interpreter lock another thread may replace that, which
 * is therefore `held` until the call ends.  A call that keeps the lock need not hold
 * anything: from the lists to the kernel, no Python runs. */
typedef struct ac_py_lists {
    ac_operand operands[AC_MAX_OPERANDS];
    ac_array* arrays;
    PyObject** held;
    Py_ssize_t used, n_held;
    int64_t elements;
} ac_py_lists;

static inline int ac_py_lists_make(const ac_py_callee* k, PyObject* const* args,
                                   ac_py_lists* lists) {
    Py_ssize_t room = 0;
    int i;
    for (i = 0; i < k->signature.n_operands; ++i) {
        const Py_ssize_t size = ac_py_list_size(k, i, args[i]);
        if (size < 0) return -1;
        room += size;
    }
    lists->used = lists->n_held = 0;
    lists->elements = 0;
    lists->arrays = (ac_array*)PyMem_Malloc((sizeof(ac_array) + sizeof(PyObject*)) *
                                            (size_t)(room + 1));
    if (lists->arrays == NULL) return PyErr_NoMemory(), -1;
    lists->held = (PyObject**)(lists->arrays + room);
    return 0;
}

static inline void ac_py_lists_free(ac_py_lists* lists) {
    while (lists->n_held > 0) Py_DECREF(lists->held[--lists->n_held]);
    PyMem_Free(lists->arrays);
}

/* The next array of operand `i`. */
static inline int ac_py_lists_add(const ac_py_callee* k, int i, PyObject* object,
                                  ac_py_lists* lists) {
    ac_array* next = &lists->arrays[lists->used++];
    int64_t size;
    if (object == Py_None && !k->signature.is_list[i]) return ac_py_absent(k, i, next);
    size = ac_py_array(k, i, object, next, i < k->signature.n_outputs);
    if (size < 0) return -1;
    lists->elements += size;
    return 0;
}

static inline int ac_py_lists_fill(const ac_py_callee* k, PyObject* const* args,
                                   ac_py_lists* lists) {
    const ac_py_signature* s = &k->signature;
    int i;
    for (i = 0; i < s->n_operands; ++i) {
        const Py_ssize_t count = s->is_list[i] ? PySequence_Fast_GET_SIZE(args[i]) : 1;
        Py_ssize_t j;
        lists->operands[i].arrays = lists->arrays + lists->used;
        lists->operands[i].count = count;
        for (j = 0; j < count; ++j) {
            PyObject* object =
                s->is_list[i] ? PySequence_Fast_GET_ITEM(args[i], j) : args[i];
            if (ac_py_lists_add(k, i, object, lists) < 0) return -1;
        }
    }
    return 0;
}

#ifdef __cplusplus
}
#endif
#endif /* AUTOCALC_KERNEL_ARGUMENTS_H */
