/* SPDX-License-Identifier: MIT
 *
 * The extension module.  Its dict `kernels` has a callable for each kernel of the table.
 * The header contains the code for this.
 */
#include "autocalc_kernel_python.h"

extern const ac_kernel_table example_kernels;

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "autocalc_kernels_example._native",
    .m_doc = "Kernels in C for AutoCalc.",
    .m_size = -1,
};

PyMODINIT_FUNC PyInit__native(void) {
    PyObject *module, *kernels;
    if (ac_python_ready() < 0) return NULL;
    module = PyModule_Create(&definition);
    if (module == NULL) return NULL;
    /* No context of our own: without one, kernels run on one thread. */
    kernels = ac_python_table(&example_kernels, NULL);
    if (kernels == NULL || PyModule_AddObject(module, "kernels", kernels) < 0) {
        Py_XDECREF(kernels);
        Py_CLEAR(module);
    }
    return module;
}
