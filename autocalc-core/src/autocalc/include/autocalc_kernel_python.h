/* SPDX-License-Identifier: MIT
 *
 * Python callables from kernel tables: the fast entry of any native kernel package.
 *
 * Include this in one source file of an extension module (C99 or C++), call
 * `ac_python_ready()` in the module's init function, and make a callable of each table
 * entry with `ac_python_kernel`.  The callable is
 *
 *     kernel(*outputs, *inputs, *attributes) -> None
 *
 * with the attributes `name`, `signature`, `native` (the entry as a capsule), `halves`,
 * `supports` and `describe` (methods for those of `KernelImpl`), and `beyond`, which
 * the dispatcher sets.  It reads NumPy's array structs directly: a call of three arrays
 * costs some 30 ns more than an empty Python function.
 *
 * What it checks: exact `numpy.ndarray`, native byte order, alignment, at most 8 dims,
 * no negative stride, writable outputs, and for elementwise kernels that inputs
 * broadcast to the output's shape.  Shapes and dtypes beyond that are the dispatcher's
 * business.  A call whose operands have more than 8 dims is left to `beyond(kernel,
 * *outputs, *inputs, *attributes)`; where nothing has set that, it is a ValueError.
 */
#ifndef AUTOCALC_KERNEL_PYTHON_H
#define AUTOCALC_KERNEL_PYTHON_H

#include "autocalc_kernel_arguments.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of functions that usual calls do not need: they are kept apart, as these take some
 * 10 ns longer where their code is moved. */
#if defined(__GNUC__)
#define AC_PY_COLD __attribute__((noinline, cold))
#else
#define AC_PY_COLD
#endif

/* As `ac_engine.context`. */
typedef ac_context* (*ac_context_provider)(void);

/* Answers the engine's provider: kernels then share its threads and its scratch memory.
 * NULL without an exception where core has no extension module: kernels then run on one
 * thread.  NULL with an exception if the engine is of another version. */
static inline ac_context_provider ac_python_context(void) {
    PyObject* module = PyImport_ImportModule("autocalc._native");
    PyObject* capsule;
    const ac_engine* engine;
    if (module == NULL) {
        if (PyErr_ExceptionMatches(PyExc_ImportError)) PyErr_Clear();
        return NULL;
    }
    capsule = PyObject_GetAttrString(module, AC_PYTHON_ENGINE);
    Py_DECREF(module);
    if (capsule == NULL) return NULL;
    engine = (const ac_engine*)PyCapsule_GetPointer(capsule, AC_PYTHON_ENGINE_CAPSULE);
    Py_DECREF(capsule); /* the module keeps it */
    if (engine == NULL) return NULL;
    if (engine->version == AC_KERNEL_API_VERSION) return engine->context;
    PyErr_Format(PyExc_ImportError,
                 "autocalc._native has an engine of kernel api %u, but %d is needed",
                 (unsigned)engine->version, AC_KERNEL_API_VERSION);
    return NULL;
}

typedef struct ac_py_kernel {
    PyObject_HEAD vectorcallfunc vectorcall;
    ac_context_provider context;
    ac_py_callee callee;
    PyObject* beyond; /* runs calls of more than AC_MAX_DIMS dimensions, or NULL */
} ac_py_kernel;

static inline const ac_py_callee* ac_py_callee_of(PyObject* kernel) {
    return &((const ac_py_kernel*)kernel)->callee;
}

/* ---- a context without threads */

typedef struct ac_py_serial {
    ac_context context;
    void* block[8];
    void* raw[8];
} ac_py_serial;

static void ac_py_serial_for(ac_context* context, int64_t tasks, ac_task_fn task,
                             void* arg) {
    (void)context;
    if (tasks > 0) task(arg, 0, tasks);
}

static void* ac_py_serial_scratch(ac_context* context, int32_t slot, size_t bytes) {
    ac_py_serial* serial = (ac_py_serial*)context->state;
    if (slot < 0 || slot > 7) return NULL;
    free(serial->raw[slot]);
    serial->raw[slot] = malloc(bytes + 64);
    if (serial->raw[slot] == NULL) return NULL;
    return (void*)(((uintptr_t)serial->raw[slot] + 63) & ~(uintptr_t)63);
}

static void ac_py_run_serially(const ac_kernel_entry* entry, const ac_call* call,
                               ac_status* status) {
    ac_py_serial serial;
    int slot;
    memset(&serial, 0, sizeof serial);
    serial.context.size = sizeof serial.context;
    serial.context.version = AC_KERNEL_API_VERSION;
    serial.context.num_threads = 1;
    serial.context.parallel_for = ac_py_serial_for;
    serial.context.scratch = ac_py_serial_scratch;
    serial.context.state = &serial;
    entry->function(call, &serial.context, status);
    for (slot = 0; slot < 8; ++slot) free(serial.raw[slot]);
}

/* ---- the call */

static void ac_py_execute(const ac_py_kernel* k, const ac_call* call,
                          ac_status* status) {
    if (k->context != NULL)
        k->callee.entry->function(call, k->context(), status);
    else
        ac_py_run_serially(k->callee.entry, call, status);
}

/* `elements` is the size of the largest operand. */
static int ac_py_is_long(const ac_py_callee* k, const ac_call* call, int64_t elements) {
    return ac_py_cost(k, call, elements) > AC_PYTHON_RELEASE_NS;
}

/* A `long` call runs without the interpreter lock. */
static PyObject* ac_py_run(const ac_py_kernel* k, const ac_call* call, int is_long) {
    ac_status status = {AC_DONE, 0, 0, 0};
    if (is_long) {
        Py_BEGIN_ALLOW_THREADS ac_py_execute(k, call, &status);
        Py_END_ALLOW_THREADS
    } else {
        ac_py_execute(k, call, &status);
    }
    if (status.code != AC_DONE) return ac_py_raise(&k->callee, &status);
    Py_RETURN_NONE;
}

/* ---- more dimensions than the C form has */

AC_PY_COLD static int ac_py_is_beyond(PyObject* object) {
    return Py_TYPE(object) == ac_py_ndarray &&
           ((const PyArrayObject_fields*)object)->nd > AC_MAX_DIMS;
}

AC_PY_COLD static int ac_py_any_beyond(const ac_py_callee* k, PyObject* const* args) {
    int i;
    for (i = 0; i < k->signature.n_operands; ++i) {
        const int is_list = PyList_Check(args[i]) || PyTuple_Check(args[i]);
        Py_ssize_t j, count = is_list ? PySequence_Fast_GET_SIZE(args[i]) : 0;
        if (ac_py_is_beyond(args[i])) return 1;
        for (j = 0; j < count; ++j) {
            if (ac_py_is_beyond(PySequence_Fast_GET_ITEM(args[i], j))) return 1;
        }
    }
    return 0;
}

/* Of a call that failed before its kernel ran: leaves it to `beyond`, if its operands
 * have too many dimensions; else NULL with the exception that is set. */
AC_PY_COLD static PyObject* ac_py_declined(PyObject* self, PyObject* const* args) {
    const ac_py_kernel* kernel = (const ac_py_kernel*)self;
    const ac_py_signature* s = &kernel->callee.signature;
    PyObject* all[1 + AC_MAX_OPERANDS + AC_MAX_ATTRIBUTES];
    PyObject *beyond = kernel->beyond, *result;
    const int count = s->n_operands + s->n_attributes;
    if (beyond == NULL || !ac_py_any_beyond(&kernel->callee, args)) return NULL;
    PyErr_Clear();
    all[0] = self;
    memcpy(all + 1, args, sizeof(PyObject*) * (size_t)count);
    Py_INCREF(beyond);
    result = PyObject_Vectorcall(beyond, all, (size_t)count + 1, NULL);
    Py_DECREF(beyond);
    return result;
}

/* ---- calls with lists */

static void ac_py_lists_hold(const ac_py_callee* k, PyObject* const* args,
                             ac_py_lists* lists) {
    int i;
    for (i = 0; i < k->signature.n_operands; ++i) {
        Py_ssize_t j;
        if (!k->signature.is_list[i]) continue;
        for (j = 0; j < PySequence_Fast_GET_SIZE(args[i]); ++j) {
            PyObject* object = PySequence_Fast_GET_ITEM(args[i], j);
            Py_INCREF(object);
            lists->held[lists->n_held++] = object;
        }
    }
}

/* The attributes come first: `__float__` of one may change a list. */
static PyObject* ac_py_call_lists(PyObject* self, PyObject* const* args) {
    const ac_py_kernel* kernel = (const ac_py_kernel*)self;
    const ac_py_callee* k = &kernel->callee;
    ac_py_attributes attributes;
    ac_py_lists lists;
    ac_call call;
    PyObject* result = NULL;
    int filled;
    if (ac_py_read_attributes(k, args + k->signature.n_operands, &attributes) < 0 ||
        ac_py_lists_make(k, args, &lists) < 0)
        return NULL;
    filled = ac_py_lists_fill(k, args, &lists) == 0;
    if (filled && ac_py_check_dtype(k, lists.operands) == 0) {
        int is_long;
        ac_py_make_call(k, lists.operands, &attributes, &call);
        is_long = ac_py_is_long(k, &call, lists.elements);
        if (is_long) ac_py_lists_hold(k, args, &lists);
        result = ac_py_run(kernel, &call, is_long);
    }
    ac_py_lists_free(&lists);
    return filled ? result : ac_py_declined(self, args);
}

/* ---- any call */

static PyObject* ac_py_call_kernel(PyObject* self, PyObject* const* args, size_t nargsf,
                                   PyObject* keywords) {
    const ac_py_kernel* kernel = (const ac_py_kernel*)self;
    const ac_py_callee* k = &kernel->callee;
    const ac_py_signature* s = &k->signature;
    const Py_ssize_t n = PyVectorcall_NARGS(nargsf);
    ac_array arrays[AC_MAX_OPERANDS];
    ac_operand operands[AC_MAX_OPERANDS];
    ac_py_attributes attributes;
    ac_call call;
    int64_t elements = 0;
    int i;
    if (n != s->n_operands + s->n_attributes ||
        (keywords != NULL && PyTuple_GET_SIZE(keywords) > 0)) {
        PyErr_Format(
            PyExc_TypeError, "%s takes %d arguments by position (%s), %zd were given",
            k->entry->name, s->n_operands + s->n_attributes, k->entry->signature, n);
        return NULL;
    }
    if (s->has_lists) return ac_py_call_lists(self, args);
    for (i = 0; i < s->n_operands; ++i) {
        operands[i].arrays = &arrays[i];
        operands[i].count = 1;
        if (args[i] == Py_None) {
            if (ac_py_absent(k, i, &arrays[i]) < 0) return NULL;
        } else {
            const int64_t size =
                ac_py_array(k, i, args[i], &arrays[i], i < s->n_outputs);
            if (size < 0) return ac_py_declined(self, args);
            if (size > elements) elements = size;
        }
    }
    if (s->elementwise) {
        for (i = s->n_outputs; i < s->n_operands; ++i) {
            if (!ac_py_same_shape(&arrays[i], &arrays[0]) && arrays[i].present &&
                ac_py_expand(k, i, &arrays[i], &arrays[0]) < 0) {
                return NULL;
            }
        }
    }
    if (ac_py_check_dtype(k, operands) < 0) return NULL;
    if (ac_py_read_attributes(k, args + s->n_operands, &attributes) < 0) return NULL;
    ac_py_make_call(k, operands, &attributes, &call);
    return ac_py_run(kernel, &call, ac_py_is_long(k, &call, elements));
}

/* ---- supports(key), describe(key) */

static int ac_py_key_dtype(PyObject* dtype) {
    return ac_py_dtype_of(((PyArray_Descr*)dtype)->type_num);
}

static void ac_py_key_sizes(PyObject* shapes, Py_ssize_t i, int64_t* out,
                            int32_t* ndim) {
    PyObject* shape = PyTuple_Check(shapes) && i < PyTuple_GET_SIZE(shapes)
                          ? PyTuple_GET_ITEM(shapes, i)
                          : NULL;
    Py_ssize_t d;
    *ndim = -1;
    if (shape == NULL || !PyTuple_Check(shape) || PyTuple_GET_SIZE(shape) > AC_MAX_DIMS)
        return;
    for (d = 0; d < PyTuple_GET_SIZE(shape); ++d) {
        out[d] = PyLong_AsLongLong(PyTuple_GET_ITEM(shape, d));
        if (PyErr_Occurred()) return PyErr_Clear();
    }
    *ndim = (int32_t)d;
}

/* A dispatch key names all operands, outputs first; None is absent.  What it does not
 * know has ndim -1. */
static void ac_py_key_arrays(const ac_py_callee* k, PyObject* dtypes, PyObject* shapes,
                             PyObject* strides, ac_array* arrays) {
    int i;
    for (i = 0; i < k->signature.n_operands; ++i) {
        ac_array* a = &arrays[i];
        int32_t unused;
        memset(a, 0, sizeof *a);
        a->ndim = -1;
        a->dtype = -1;
        if (PyTuple_GET_ITEM(dtypes, i) == Py_None) continue;
        a->present = 1;
        a->dtype = ac_py_key_dtype(PyTuple_GET_ITEM(dtypes, i));
        ac_py_key_sizes(shapes, i, a->shape, &a->ndim);
        ac_py_key_sizes(strides, i, a->strides, &unused);
    }
}

/* What `answer`, the entry's supports or describe, has to say; None for NULL. */
static PyObject* ac_py_answer(const ac_py_callee* k, ac_supports_fn answer,
                              PyObject* attributes, const ac_array* arrays) {
    const ac_py_signature* s = &k->signature;
    ac_operand operands[AC_MAX_OPERANDS];
    ac_attribute values[AC_MAX_ATTRIBUTES];
    int64_t ints[AC_PYTHON_MAX_INTS];
    ac_call call = {sizeof(ac_call), AC_KERNEL_API_VERSION,
                    s->n_outputs,    s->n_inputs,
                    s->n_attributes, 0,
                    operands,        values};
    const char* text;
    int used = 0, i, first = -1;
    for (i = 0; i < s->n_operands; ++i) {
        operands[i].arrays = &arrays[i];
        operands[i].count = 1;
        if (first < 0 && i >= s->n_outputs && arrays[i].present) first = i;
    }
    if (first >= 0 && !ac_py_takes(k->entry, arrays[first].dtype)) {
        return PyUnicode_FromFormat("does not take this dtype of `%U`",
                                    s->operand_name[first]);
    }
    for (i = 0; i < s->n_operands;
         ++i) { /* an output of 16 bits may have no such input */
        const int dtype = arrays[i].present ? arrays[i].dtype : -1;
        const int half = dtype == AC_BFLOAT16 || dtype == AC_FLOAT16;
        if (half && !ac_py_takes(k->entry, dtype)) {
            return PyUnicode_FromFormat("does not take this dtype of `%U`",
                                        s->operand_name[i]);
        }
    }
    if (answer == NULL) Py_RETURN_NONE;
    for (i = 0; i < s->n_attributes; ++i) {
        if (ac_py_attribute(k, i, PyTuple_GET_ITEM(attributes, i), &values[i], ints,
                            &used) < 0)
            return NULL;
    }
    text = answer(&call);
    if (text == NULL) Py_RETURN_NONE;
    return PyUnicode_FromString(text);
}

/* Whether a key has a shape of too many dimensions, or attributes too many numbers. */
AC_PY_COLD static int ac_py_key_is_beyond(PyObject* parts, Py_ssize_t most) {
    Py_ssize_t i, size = 0;
    for (i = 0; PyTuple_Check(parts) && i < PyTuple_GET_SIZE(parts); ++i) {
        PyObject* part = PyTuple_GET_ITEM(parts, i);
        if (PyTuple_Check(part) && PyTuple_GET_SIZE(part) > size)
            size = PyTuple_GET_SIZE(part);
    }
    return size > most;
}

static PyObject* ac_py_ask(PyObject* self, PyObject* key, ac_supports_fn answer) {
    static const char* const names[4] = {"dtypes", "shapes", "strides", "attributes"};
    const ac_py_callee* k = ac_py_callee_of(self);
    const ac_py_signature* s = &k->signature;
    ac_array arrays[AC_MAX_OPERANDS];
    PyObject* part[4] = {NULL, NULL, NULL, NULL};
    PyObject* result = NULL;
    int i, failed = 0;
    for (i = 0; i < 4 && !failed; ++i) {
        part[i] = PyObject_GetAttrString(key, names[i]);
        failed = part[i] == NULL;
    }
    if (!failed && PyTuple_Check(part[0]) && PyTuple_Check(part[3]) &&
        PyTuple_GET_SIZE(part[0]) == s->n_operands &&
        PyTuple_GET_SIZE(part[3]) == s->n_attributes) {
        if (ac_py_key_is_beyond(part[1], AC_MAX_DIMS) ||
            ac_py_key_is_beyond(part[3], AC_PYTHON_MAX_INTS)) {
            result = PyUnicode_FromFormat("takes at most %d dimensions", AC_MAX_DIMS);
        } else {
            ac_py_key_arrays(k, part[0], part[1], part[2], arrays);
            result = ac_py_answer(k, answer, part[3], arrays);
        }
    } else if (!failed) {
        PyErr_Format(PyExc_TypeError, "%s: %R is not a dispatch key of `%s`",
                     k->entry->name, key, k->entry->signature);
    }
    for (i = 0; i < 4; ++i) Py_XDECREF(part[i]);
    return result;
}

static PyObject* ac_py_supports(PyObject* self, PyObject* key) {
    return ac_py_ask(self, key, ac_py_callee_of(self)->entry->supports);
}

static PyObject* ac_py_describe(PyObject* self, PyObject* key) {
    return ac_py_ask(self, key, ac_py_callee_of(self)->entry->describe);
}

/* ---- the type */

static PyObject* ac_py_get_name(PyObject* self, void* unused) {
    (void)unused;
    return PyUnicode_FromString(ac_py_callee_of(self)->entry->name);
}

static PyObject* ac_py_get_signature(PyObject* self, void* unused) {
    (void)unused;
    return PyUnicode_FromString(ac_py_callee_of(self)->entry->signature);
}

static PyObject* ac_py_get_native(PyObject* self, void* unused) {
    (void)unused;
    return PyCapsule_New((void*)ac_py_callee_of(self)->entry, AC_PYTHON_CAPSULE, NULL);
}

static PyObject* ac_py_repr(PyObject* self) {
    const ac_kernel_entry* entry = ac_py_callee_of(self)->entry;
    return PyUnicode_FromFormat("<kernel %s: %s>", entry->name, entry->signature);
}

static PyObject* ac_py_get_halves(PyObject* self, void* unused) {
    const ac_kernel_entry* entry = ac_py_callee_of(self)->entry;
    (void)unused;
    return PyBool_FromLong(ac_py_takes(entry, AC_BFLOAT16) ||
                           ac_py_takes(entry, AC_FLOAT16));
}

AC_PY_COLD static PyObject* ac_py_get_beyond(PyObject* self, void* unused) {
    PyObject* beyond = ((const ac_py_kernel*)self)->beyond;
    (void)unused;
    if (beyond == NULL) beyond = Py_None;
    Py_INCREF(beyond);
    return beyond;
}

/* None, or no value at all, takes it away. */
AC_PY_COLD static int ac_py_set_beyond(PyObject* self, PyObject* value, void* unused) {
    ac_py_kernel* kernel = (ac_py_kernel*)self;
    PyObject* before = kernel->beyond;
    (void)unused;
    if (value == Py_None) value = NULL;
    Py_XINCREF(value);
    kernel->beyond = value;
    Py_XDECREF(before);
    return 0;
}

static void ac_py_dealloc(PyObject* self) {
    ac_py_clear_signature(&((ac_py_kernel*)self)->callee.signature);
    Py_XDECREF(((ac_py_kernel*)self)->beyond);
    PyObject_Free(self);
}

static PyMethodDef ac_py_methods[] = {
    {"supports", ac_py_supports, METH_O,
     "supports(key) -> None (accepts) or the reason of a refusal"},
    {"describe", ac_py_describe, METH_O,
     "describe(key) -> in which of its ways an accepted call runs, or None"},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef ac_py_getters[] = {
    {"name", ac_py_get_name, NULL, "the kernel's name", NULL},
    {"signature", ac_py_get_signature, NULL, "the kernel's signature", NULL},
    {"native", ac_py_get_native, NULL, "the table entry as a capsule", NULL},
    {"halves", ac_py_get_halves, NULL, "whether it takes bfloat16 or float16", NULL},
    {"beyond", ac_py_get_beyond, ac_py_set_beyond,
     "runs calls of more than 8 dimensions, given the kernel first; or None", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyTypeObject ac_py_type; /* filled by ac_python_ready */
static int ac_py_ready = 0;

/* To be called in the module's init function: 0, or -1 with an exception. */
static int ac_python_ready(void) {
    if (ac_py_ready) return 0;
    if (ac_py_prepare() < 0) return -1;
    Py_SET_REFCNT((PyObject*)&ac_py_type, 1);
    ac_py_type.tp_name = "autocalc.kernel";
    ac_py_type.tp_doc = "kernel(*outputs, *inputs, *attributes) -> None";
    ac_py_type.tp_basicsize = sizeof(ac_py_kernel);
    ac_py_type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL;
    ac_py_type.tp_vectorcall_offset = offsetof(ac_py_kernel, vectorcall);
    ac_py_type.tp_call = PyVectorcall_Call;
    ac_py_type.tp_dealloc = ac_py_dealloc;
    ac_py_type.tp_repr = ac_py_repr;
    ac_py_type.tp_methods = ac_py_methods;
    ac_py_type.tp_getset = ac_py_getters;
    ac_py_ready = PyType_Ready(&ac_py_type) == 0;
    return ac_py_ready ? 0 : -1;
}

/* A new callable for `entry`, which must outlive it.  Without `context` kernels run on
 * one thread. */
static PyObject* ac_python_kernel(const ac_kernel_entry* entry,
                                  ac_context_provider context) {
    ac_py_kernel* k = PyObject_New(ac_py_kernel, &ac_py_type);
    if (k == NULL) return NULL;
    k->vectorcall = ac_py_call_kernel;
    k->context = context;
    k->beyond = NULL;
    if (ac_py_read_signature(&k->callee, entry) < 0) {
        Py_DECREF(k);
        return NULL;
    }
    return (PyObject*)k;
}

/* {name: callable} of a table, or NULL with an exception. */
static PyObject* ac_python_table(const ac_kernel_table* table,
                                 ac_context_provider context) {
    PyObject* result;
    int64_t i;
    if (table->api != AC_KERNEL_API_VERSION) {
        return PyErr_Format(PyExc_ImportError,
                            "%s was built for kernel api %u, but %d is needed",
                            table->name, (unsigned)table->api, AC_KERNEL_API_VERSION);
    }
    result = PyDict_New();
    for (i = 0; result != NULL && i < table->count; ++i) {
        PyObject* kernel = ac_python_kernel(&table->entries[i], context);
        if (kernel == NULL ||
            PyDict_SetItemString(result, table->entries[i].name, kernel) < 0) {
            Py_CLEAR(result);
        }
        Py_XDECREF(kernel);
    }
    return result;
}

#ifdef __cplusplus
}
#endif
#endif /* AUTOCALC_KERNEL_PYTHON_H */
