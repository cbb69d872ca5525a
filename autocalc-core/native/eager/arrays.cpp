// SPDX-License-Identifier: MIT
//
// What the dispatcher asks of arrays at every call, without a Python frame.
//
// `empty(shape, dtype)`: the one function that makes results. Large arrays are in
// blocks of the pool; NumPy gives a block back through the memory handler that the
// array carries, so no owner object is needed.
//
// `key_of(*operands)`: their dtypes, shapes and strides, as bytes.
#include "eager/arrays.hpp"

#include "eager/objects.hpp"

#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#define NPY_TARGET_VERSION NPY_1_22_API_VERSION
#include <numpy/arrayobject.h>

#include <cstring>

#include "memory/allocator.hpp"
#include "pool/limits.hpp"

namespace autocalc::python {
namespace {

// Below this NumPy keeps freed blocks itself, and smaller ones would waste their
// 64-byte header.
constexpr npy_intp pool_threshold = 1024;

// The most dimensions of an array: 64, and 32 before NumPy 2.
int most_dims() { return PyArray_RUNTIME_VERSION >= NPY_2_0_API_VERSION ? 64 : 32; }

void* handler_malloc(void*, std::size_t size) { return runtime::allocate(size); }

void* handler_calloc(void*, std::size_t count, std::size_t size) {
    if (size != 0 && count > SIZE_MAX / size) return nullptr;
    void* block = runtime::allocate(count * size);
    if (block != nullptr) std::memset(block, 0, count * size);
    return block;
}

void handler_free(void*, void* block, std::size_t) { runtime::release(block); }

void* handler_realloc(void*, void* block, std::size_t size) {
    if (block == nullptr) return runtime::allocate(size);
    const std::size_t held = runtime::capacity(block);
    if (size <= held) return block;
    void* larger = runtime::allocate(size);
    if (larger != nullptr) {
        std::memcpy(larger, block, held);
        runtime::release(block);
    }
    return larger;
}

PyDataMem_Handler handler = {
    "autocalc",
    1,
    {nullptr, handler_malloc, handler_calloc, handler_realloc, handler_free}};
PyObject* handler_capsule = nullptr;

PyObject* no_memory(int nd, const npy_intp* dims, npy_intp bytes) {
    const eager::Ref shape = eager::tuple_of_integers(dims, nd);
    if (!shape) return nullptr;
    const unsigned long long there = runtime::usable_memory();
    return PyErr_Format(PyExc_MemoryError,
                        "an array of shape %R needs %zd bytes, which are not free; the "
                        "machine has %llu",
                        shape.get(), bytes, there);
}

PyObject* pooled(PyArray_Descr* descr, int nd, const npy_intp* dims, npy_intp bytes) {
    void* block = runtime::allocate(static_cast<std::size_t>(bytes));
    if (block == nullptr) return no_memory(nd, dims, bytes);
    Py_INCREF(descr);
    PyObject* array = PyArray_NewFromDescr(&PyArray_Type, descr, nd, dims, nullptr,
                                           block, NPY_ARRAY_CARRAY, nullptr);
    if (array == nullptr) {
        runtime::release(block);
        return nullptr;
    }
    Py_INCREF(handler_capsule);
    reinterpret_cast<PyArrayObject_fields*>(array)->mem_handler = handler_capsule;
    PyArray_ENABLEFLAGS(reinterpret_cast<PyArrayObject*>(array), NPY_ARRAY_OWNDATA);
    return array;
}

// The product of the dims and the item size, or -1 if it is negative or too large.
npy_intp byte_count(int nd, const npy_intp* dims, npy_intp item) {
    npy_intp bytes = item;
    for (int d = 0; d < nd; ++d) {
        if (dims[d] < 0 || __builtin_mul_overflow(bytes, dims[d], &bytes)) return -1;
    }
    return bytes;
}

// Core's own error, for a shape of too many dimensions. It is kept apart: calls that do
// not need it take some 10 ns longer where their code is moved.
__attribute__((cold, noinline)) PyObject* too_many(Py_ssize_t nd) {
    PyObject* errors = PyImport_ImportModule("autocalc.errors");
    if (errors == nullptr) return nullptr;
    PyObject* error =
        PyObject_CallMethod(errors, "too_many_dimensions", "ni", nd, most_dims());
    if (error != nullptr) {
        PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error)), error);
        Py_DECREF(error);
    }
    Py_DECREF(errors);
    return nullptr;
}

PyObject* empty(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
    if (nargs == 2 && !PyArray_DescrCheck(args[1]) &&
        PyObject_HasAttrString(args[1], "empty")) {  // of a device, which makes its own
        return PyObject_CallMethod(args[1], "empty", "(O)", args[0]);
    }
    if (nargs != 2 || !PyTuple_Check(args[0]) || !PyArray_DescrCheck(args[1])) {
        PyErr_SetString(PyExc_TypeError,
                        "empty takes a tuple of integers and a numpy.dtype");
        return nullptr;
    }
    npy_intp dims[64];
    const int nd = static_cast<int>(PyTuple_GET_SIZE(args[0]));
    if (nd > most_dims()) return too_many(nd);
    for (int d = 0; d < nd; ++d) {
        dims[d] = PyLong_AsSsize_t(PyTuple_GET_ITEM(args[0], d));
        if (dims[d] == -1 && PyErr_Occurred()) return nullptr;
    }
    return new_array(args[1], nd, dims);
}

// ---- keys

// Of a key's words, the first of an operand; arrays have their number of dims, at most
// 64, in its lowest byte.
constexpr npy_int64 absent_word = 0xff, list_word = 0xfe;

// The array of `object`, or null: subclasses have the same struct.
const PyArrayObject_fields* fields_of(PyObject* object) {
    return PyArray_Check(object) ? reinterpret_cast<PyArrayObject_fields*>(object)
                                 : nullptr;
}

bool is_list(PyObject* object) { return PyList_Check(object) || PyTuple_Check(object); }

// How many words stand for an array or None; -1 if it is neither.
Py_ssize_t count_words(PyObject* object) {
    if (object == Py_None) return 1;
    const PyArrayObject_fields* a = fields_of(object);
    // Numbers, as bool is, and those of other libraries, as bfloat16, are distinguished
    // by their type's number; texts and records are not.
    const bool known = a != nullptr && (PyTypeNum_ISNUMBER(a->descr->type_num) ||
                                        PyTypeNum_ISUSERDEF(a->descr->type_num));
    return !known ? -1 : 1 + 2 * static_cast<Py_ssize_t>(a->nd);
}

npy_int64* put_words(PyObject* object, npy_int64* to) {
    const PyArrayObject_fields* a = fields_of(object);
    if (a == nullptr) {
        *to++ = absent_word;
        return to;
    }
    *to++ = a->nd | static_cast<npy_int64>(a->descr->type_num) << 8 |
            static_cast<npy_int64>(a->descr->byteorder) << 32;
    for (int d = 0; d < a->nd; ++d) {
        *to++ = a->dimensions[d];
        *to++ = a->strides[d];
    }
    return to;
}

// The same of an operand, which may be a list.
Py_ssize_t count_all_words(PyObject* object) {
    if (!is_list(object)) return count_words(object);
    Py_ssize_t words = 1;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(object); ++i) {
        const Py_ssize_t more = count_words(PySequence_Fast_GET_ITEM(object, i));
        if (more < 0) return -1;
        words += more;
    }
    return words;
}

npy_int64* put_all_words(PyObject* object, npy_int64* to) {
    if (!is_list(object)) return put_words(object, to);
    const Py_ssize_t count = PySequence_Fast_GET_SIZE(object);
    *to++ = list_word | count << 8;
    for (Py_ssize_t i = 0; i < count; ++i) {
        to = put_words(PySequence_Fast_GET_ITEM(object, i), to);
    }
    return to;
}

PyObject* key_of(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
    PyObject* key = describe_arrays(args, nargs);
    if (key != nullptr || PyErr_Occurred()) return key;
    return PyObject_Vectorcall(eager::bound.key_of_others, args,
                               static_cast<std::size_t>(nargs), nullptr);
}

PyObject* view_in(PyObject* array, PyArray_Descr* descr, int nd,
                  const std::intptr_t* dims, const std::intptr_t* strides,
                  std::intptr_t offset, int flags) {
    auto* data = reinterpret_cast<PyArrayObject_fields*>(array)->data + offset;
    Py_INCREF(descr);
    PyObject* view = PyArray_NewFromDescr(&PyArray_Type, descr, nd, dims, strides, data,
                                          flags, nullptr);
    if (view == nullptr) return nullptr;
    Py_INCREF(array);  // which NumPy replaces by the owner of its memory
    if (PyArray_SetBaseObject(reinterpret_cast<PyArrayObject*>(view), array) < 0) {
        Py_DECREF(view);
        return nullptr;
    }
    return view;
}

PyMethodDef methods[] = {
    {"key_of", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(key_of)),
     METH_FASTCALL,
     "key_of(*operands: numpy.ndarray | list | None) -> bytes\n\n"
     "Return the dtypes, shapes and strides of all operands as one value."},
    {"empty", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(empty)),
     METH_FASTCALL,
     "empty(shape: tuple[int, ...], dtype: numpy.dtype) -> numpy.ndarray\n\n"
     "Return a new C-contiguous array, its values undefined."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool is_dtype(PyObject* object) { return PyArray_DescrCheck(object); }

PyObject* new_array(PyObject* dtype, int nd, const std::intptr_t* dims) {
    auto* descr = reinterpret_cast<PyArray_Descr*>(dtype);
    const npy_intp bytes = byte_count(nd, dims, PyDataType_ELSIZE(descr));
    if (bytes >= pool_threshold && !PyDataType_REFCHK(descr)) {
        return pooled(descr, nd, dims, bytes);
    }
    Py_INCREF(descr);  // NumPy reports negative and too large dims
    return PyArray_NewFromDescr(&PyArray_Type, descr, nd, dims, nullptr, nullptr, 0,
                                nullptr);
}

std::intptr_t item_size(PyObject* dtype) {
    return PyDataType_ELSIZE(reinterpret_cast<PyArray_Descr*>(dtype));
}

PyObject* new_array_view(PyObject* array, int nd, const std::intptr_t* dims,
                         const std::intptr_t* strides, std::intptr_t offset,
                         bool writable, PyObject* dtype) {
    const auto* a = reinterpret_cast<PyArrayObject_fields*>(array);
    auto* descr = dtype ? reinterpret_cast<PyArray_Descr*>(dtype) : a->descr;
    return view_in(array, descr, nd, dims, strides, offset,
                   writable ? a->flags & NPY_ARRAY_WRITEABLE : 0);
}

PyObject* new_array_at(PyObject* root, PyObject* dtype, int nd,
                       const std::intptr_t* dims, const std::intptr_t* strides,
                       std::intptr_t offset) {
    const auto* a = reinterpret_cast<PyArrayObject_fields*>(root);
    return view_in(root, reinterpret_cast<PyArray_Descr*>(dtype), nd, dims, strides,
                   offset, a->flags & NPY_ARRAY_WRITEABLE);
}

// Bytes, since they are hashed and compared in one run: a third of what a tuple of
// shapes, dtypes and strides takes to be made and looked up.
PyObject* describe_arrays(PyObject* const* operands, Py_ssize_t count) {
    Py_ssize_t words = 0;
    for (Py_ssize_t i = 0; i < count; ++i) {
        const Py_ssize_t more = count_all_words(operands[i]);
        if (more < 0) return nullptr;
        words += more;
    }
    constexpr Py_ssize_t word = sizeof(npy_int64);
    PyObject* key = PyBytes_FromStringAndSize(nullptr, words * word);
    if (key == nullptr) return nullptr;
    // Bytes begin after a header of 32: aligned for words.
    auto* to = reinterpret_cast<npy_int64*>(PyBytes_AS_STRING(key));
    for (Py_ssize_t i = 0; i < count; ++i) to = put_all_words(operands[i], to);
    return key;
}

bool add_arrays(PyObject* module) {
    if (_import_array() < 0) return false;
    handler_capsule = PyCapsule_New(&handler, "mem_handler", nullptr);
    return handler_capsule != nullptr && PyModule_AddFunctions(module, methods) == 0;
}

}  // namespace autocalc::python
