// SPDX-License-Identifier: MIT
#include "eager/operands.hpp"

#include <pybind11/stl.h>

namespace autocalc::python::eager {

bool broadcast(const Array* const* arrays, int count, Shape* shape) {
    const Array* first = arrays[0];
    shape->nd = first->nd;
    for (int d = 0; d < first->nd; ++d) shape->at[d] = first->dimensions[d];
    for (int i = 1; i < count; ++i) {
        const Array* a = arrays[i];
        if (a->nd > shape->nd) {  // sizes of 1 in front
            const int more = a->nd - shape->nd;
            std::memmove(shape->at + more, shape->at,
                         sizeof(npy_intp) * static_cast<std::size_t>(shape->nd));
            for (int d = 0; d < more; ++d) shape->at[d] = 1;
            shape->nd = a->nd;
        }
        npy_intp* at = shape->at + (shape->nd - a->nd);
        for (int d = 0; d < a->nd; ++d) {
            const npy_intp size = a->dimensions[d];
            if (at[d] == 1) {
                at[d] = size;
            } else if (size != 1 && size != at[d]) {
                return false;
            }
        }
    }
    return true;
}

bool read_integer(PyObject* object, npy_intp* to) {
    if (!PyLong_CheckExact(object)) return false;
    int overflow = 0;
    *to = PyLong_AsLongAndOverflow(object, &overflow);
    return overflow == 0;
}

bool read_axis(PyObject* object, npy_intp nd, npy_intp* to) {
    if (!read_integer(object, to) || *to < -nd || *to >= nd) return false;
    if (*to < 0) *to += nd;
    return true;
}

// Below 0 the definition looks: an integer has no power of -1.
Ref number_beside(PyObject* number, const Array* like) {
    npy_intp integer;
    const bool counts = like->descr->type_num == NPY_INT64 &&
                        read_integer(number, &integer) && integer >= 0;
    return counts || is_wide_float(like) ? number_of(number, like->descr) : Ref();
}

Ref number_of(PyObject* number, PyArray_Descr* dtype) {
    auto* kind = reinterpret_cast<PyObject*>(dtype);
    double value;
    if (PyFloat_CheckExact(number)) {
        value = PyFloat_AS_DOUBLE(number);
    } else if (PyLong_CheckExact(number)) {
        constexpr long exact = 1L << 24;  // float32 holds integers up to here
        int overflow = 0;
        const long integer = PyLong_AsLongAndOverflow(number, &overflow);
        if (overflow == 0 && dtype->type_num == NPY_INT64) {
            return holding(static_cast<npy_int64>(integer), kind);
        }
        if (overflow != 0 || integer <= -exact || integer >= exact) return {};
        value = static_cast<double>(integer);
    } else {
        return {};
    }
    if (dtype->type_num == NPY_FLOAT) return holding(static_cast<float>(value), kind);
    return dtype->type_num == NPY_DOUBLE ? holding(value, kind) : Ref();
}

void Saves::read(pybind11::handle saver) {
    if (saver.is_none()) return;
    const auto first_input = saver.attr("first_input").cast<Py_ssize_t>();
    using Pairs = std::vector<std::pair<Py_ssize_t, std::vector<Py_ssize_t>>>;
    for (auto& [tensor, users] : saver.attr("places").cast<Pairs>()) {
        places_.push_back({tensor, std::move(users)});
        if (tensor < first_input) outputs_ |= 1L << tensor;
    }
}

bool Saves::keep(PyObject* const* edges, PyObject* const* tensors, Ref* saved,
                 Ref* versions, PyObject* const* numbers) const {
    if (places_.empty()) {
        *saved = Ref::borrow(bound.nothing);
        *versions = Ref::borrow(bound.nothing);
        return true;
    }
    const auto count = static_cast<Py_ssize_t>(places_.size());
    *saved = Ref(PyTuple_New(count));
    *versions = Ref(PyTuple_New(2 * count));
    if (!*saved || !*versions) return false;
    for (Py_ssize_t i = 0; i < count; ++i) {
        const Place& place = places_[static_cast<std::size_t>(i)];
        PyObject* tensor = tensors[place.tensor];
        bool wanted = false;
        for (const Py_ssize_t user : place.users) wanted |= edges[user] != Py_None;
        PyObject *array = Py_None, *count_then = bound.zero;
        Ref cell = Ref::borrow(Py_None);
        if (wanted && tensor != nullptr) {
            array = slot(tensor, bound.array);
            cell = Ref::borrow(version_of(tensor));
        } else if (wanted && numbers != nullptr && numbers[place.tensor] != nullptr) {
            array = numbers[place.tensor];
            cell = Ref(new_version());
        }
        if (!cell) return false;
        if (cell.get() != Py_None) count_then = slot(cell.get(), bound.count);
        Py_INCREF(array);
        Py_INCREF(count_then);
        PyTuple_SET_ITEM(saved->get(), i, array);
        PyTuple_SET_ITEM(versions->get(), 2 * i, cell.release());
        PyTuple_SET_ITEM(versions->get(), 2 * i + 1, count_then);
    }
    return true;
}

}  // namespace autocalc::python::eager
