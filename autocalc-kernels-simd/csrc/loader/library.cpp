// SPDX-License-Identifier: MIT
//
// Opens the library of an instruction set, privately: no other library sees its
// symbols. It is never closed, since callables and capsules point into it.
#include "loader/library.hpp"

#include <dlfcn.h>

#include "autocalc_kernel_python.h"
#include "loader/cpu.hpp"

namespace autocalc::loader {
namespace {

using TableFunction = const ac_kernel_table* (*)();

// The folder of this extension module, with its last slash.
std::string own_folder() {
    Dl_info info;
    if (dladdr(reinterpret_cast<const void*>(&load_kernels), &info) == 0) return "";
    const std::string path = info.dli_fname;
    return path.substr(0, path.rfind('/') + 1);
}

}  // namespace

PyObject* load_kernels(const std::string& isa, const std::string& family) {
    if (!cpu_runs(isa)) {
        return PyErr_Format(PyExc_ImportError, "this CPU does not run `%s` code",
                            isa.c_str());
    }
    const std::string path = own_folder() + "kernels_" + isa + ".so";
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return PyErr_Format(PyExc_ImportError, "%s", dlerror());
    void* symbol = dlsym(library, ("autocalc_kernels_" + isa).c_str());
    if (symbol == nullptr) return PyErr_Format(PyExc_ImportError, "%s", dlerror());
    if (ac_python_ready() < 0) return nullptr;
    const std::string name = family + "-" + isa;
    const ac_kernel_table* table = reinterpret_cast<TableFunction>(symbol)();
    while (table != nullptr && name != table->name) table = table->next;
    if (table == nullptr) {
        return PyErr_Format(PyExc_ImportError, "%s has no kernels `%s`", path.c_str(),
                            name.c_str());
    }
    const ac_context_provider context = ac_python_context();
    if (context == nullptr && PyErr_Occurred() != nullptr) return nullptr;
    return ac_python_table(table, context);
}

}  // namespace autocalc::loader
