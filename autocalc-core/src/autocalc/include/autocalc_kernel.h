/* SPDX-License-Identifier: MIT
 *
 * The C form of an AutoCalc kernel, version 1.
 *
 * A kernel is one function `ac_kernel_fn`: it reads the inputs of an `ac_call`, writes
 * the outputs, and says how it went in an `ac_status`.  It calls no Python, throws
 * nothing, keeps nothing.  Everything here is plain C99, so a kernel can be written in
 * C, C++, Rust or assembly; `autocalc_kernel_python.h` turns an entry of a kernel table
 * into a fast Python callable.
 *
 * Structures that may grow start with their own size: a reader touches a field only if
 * `size` covers it.
 */
#ifndef AUTOCALC_KERNEL_H
#define AUTOCALC_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define AC_KERNEL_API_VERSION 1
#define AC_MAX_DIMS 8
#define AC_MAX_OPERANDS 16 /* operands named by a signature; a list counts once */
#define AC_MAX_ATTRIBUTES 12

/* Element types.  Booleans are one byte, 0 or 1.  The last two have 16 bits; kernels
 * compute on them in float32 and round once, to the nearest, ties to even. */
typedef enum ac_dtype {
    AC_FLOAT32 = 0,
    AC_FLOAT64 = 1,
    AC_INT8 = 2,
    AC_INT16 = 3,
    AC_INT32 = 4,
    AC_INT64 = 5,
    AC_UINT8 = 6,
    AC_BOOL = 7,
    AC_BFLOAT16 = 8,
    AC_FLOAT16 = 9
} ac_dtype;

/* One array.  Strides are in bytes and never negative; 0 repeats one element
 * (broadcasting). An absent optional operand has `present == 0`; an empty array is
 * present and may have a null pointer. */
typedef struct ac_array {
    void* data;
    int32_t dtype; /* ac_dtype */
    int32_t ndim;
    int32_t present;
    int32_t reserved;
    int64_t shape[AC_MAX_DIMS];
    int64_t strides[AC_MAX_DIMS];
} ac_array;

/* One attribute; which member is meant follows from the signature.  A choice is the
 * index of its word. */
typedef struct ac_attribute {
    union {
        int64_t i; /* int, bool, choice */
        double f;  /* float */
        struct {
            const int64_t* values;
            int64_t count;
        } list; /* ints */
    } v;
} ac_attribute;

/* One operand of the signature: a single array (count 1) or a list of `count` arrays.
 */
typedef struct ac_operand {
    const ac_array* arrays;
    int64_t count;
} ac_operand;

/* A call: operands in signature order, outputs first, then the attributes.
 * Elementwise kernels (signature starts with "~") find every input expanded to the
 * output's shape. */
typedef struct ac_call {
    uint32_t size; /* sizeof(ac_call) of the caller */
    uint32_t version;
    int32_t n_outputs;
    int32_t n_inputs;
    int32_t n_attributes;
    int32_t reserved;
    const ac_operand* operands; /* n_outputs + n_inputs */
    const ac_attribute* attributes;
} ac_call;

/* Runs tasks `begin <= i < end`; called at the same time from several threads with
 * disjoint ranges. */
typedef void (*ac_task_fn)(void* arg, int64_t begin, int64_t end);

/* What a thread works on within a kernel, for `autocalc.profiler`.  NONE is what has no
 * phase, and what threads do outside of kernels. */
typedef enum ac_phase {
    AC_PHASE_NONE = 0,
    AC_PHASE_PACK = 1,       /* copies operands to where it reads them faster */
    AC_PHASE_COMPUTE = 2,    /* products and what is fused with them */
    AC_PHASE_EPILOGUE = 3,   /* a pass over results: activation, sums of columns */
    AC_PHASE_STATISTICS = 4, /* means, variances, and sums of gradients */
    AC_PHASE_NORMALISE = 5,  /* writes what follows from the statistics */
    AC_PHASE_SCORES = 6,     /* queries times keys */
    AC_PHASE_SOFTMAX = 7,    /* masks, exponentials, dropout */
    AC_PHASE_PRODUCTS = 8,   /* weights times values, or the products of gradients */
    AC_PHASE_GATES = 9       /* of recurrent cells */
} ac_phase;
enum { AC_PHASE_COUNT = 10 };

/* The clock of phases.  `enter` ends the calling thread's present phase, begins another
 * one and answers the one before, to which the thread must return before its task ends.
 * It reads a clock: use it around microseconds of work, not in inner loops.  Of work
 * that changes its phase more often, `now` can time a sample; `credit` then takes so
 * many ticks from the present phase and adds them to another. */
typedef struct ac_phases {
    uint32_t size; /* sizeof(ac_phases) of the caller */
    uint32_t reserved;
    int32_t (*enter)(int32_t phase);
    uint64_t (*now)(void); /* in ticks */
    void (*credit)(int32_t phase, uint64_t ticks);
} ac_phases;

/* What a kernel may ask of its caller.  `parallel_for` splits `tasks` (a count that the
 * kernel derived from shapes only, so results do not depend on the number of threads)
 * into contiguous runs whose lengths differ by at most one, and returns when all are
 * done.  `scratch` gives 64-byte aligned memory for the duration of the call, one block
 * per `slot` (0 to 7) and calling thread; asking again for the same slot replaces the
 * block. It answers NULL when memory is exhausted. */
typedef struct ac_context ac_context;
struct ac_context {
    uint32_t size; /* sizeof(ac_context) of the caller */
    uint32_t version;
    int32_t num_threads; /* the most threads a parallel_for will use now */
    int32_t reserved;
    void (*parallel_for)(ac_context* context, int64_t tasks, ac_task_fn task,
                         void* arg);
    void* (*scratch)(ac_context* context, int32_t slot, size_t bytes);
    void* state;             /* the caller's own */
    const ac_phases* phases; /* NULL unless phases are profiled */
};

/* What AutoCalc's core offers in its extension module, as a capsule: `context` answers
 * the context in which the calling thread runs kernels, valid for one call. */
#define AC_PYTHON_ENGINE "kernel_engine"
#define AC_PYTHON_ENGINE_CAPSULE "autocalc._native." AC_PYTHON_ENGINE
typedef struct ac_engine {
    uint32_t size; /* sizeof(ac_engine) of the engine */
    uint32_t version;
    ac_context* (*context)(void);
} ac_engine;

/* Answers the clock of phases, NULL if there is none or phases are not profiled. */
static inline const ac_phases* ac_phases_of(const ac_context* context) {
    const size_t end = offsetof(ac_context, phases) + sizeof(context->phases);
    return context->size >= end ? context->phases : NULL;
}

enum { AC_DONE = 0, AC_BAD_VALUE = 1, AC_NO_MEMORY = 2, AC_UNSUPPORTED = 3 };

/* AC_BAD_VALUE: element `index` (row-major count) of operand `operand` (signature
 * order; for array i of a list, AC_MAX_OPERANDS * i more) holds `value`, which the
 * kernel cannot use (a label out of range).  Outputs are then undefined. */
typedef struct ac_status {
    int32_t code;
    int32_t operand;
    int64_t index;
    int64_t value;
} ac_status;

typedef void (*ac_kernel_fn)(const ac_call* call, ac_context* context,
                             ac_status* status);

/* Answers NULL (accepts) or a reason that outlives the call.  `call` has shapes,
 * strides, dtypes and attributes, but data pointers are not to be read.  A decision can
 * come before all of this is known: `ndim` is then -1, and `dtype` is -1 for an output
 * that is only written. */
typedef const char* (*ac_supports_fn)(const ac_call* call);

/* Of a call that `supports` accepts: in which of a kernel's ways it will run, for
 * people to read (`autocalc.kernels.explain`), in words that outlive the call; or NULL.
 * It knows as much of the call as `supports` does. */
typedef const char* (*ac_describe_fn)(const ac_call* call);

/* One line of a kernel table.  `signature` is the kernel's canonical signature; the
 * loader refuses an entry whose signature is not the one that the kernel table of
 * AutoCalc has.  `dtypes` lists the dtypes accepted for the first input that is
 * present, as a bit mask 1 << ac_dtype; 0 accepts all but AC_BFLOAT16 and AC_FLOAT16
 * (then `supports` decides).
 * `ns_per_element` is a rough cost of one element of the largest operand, in
 * nanoseconds: the Python entry releases the interpreter lock when cost times elements
 * exceeds 100 microseconds.  Matrix products leave it 0 and set `work`, which answers
 * nanoseconds for the call. */
typedef struct ac_kernel_entry {
    const char* name;
    const char* signature;
    ac_kernel_fn function;
    ac_supports_fn supports;             /* may be NULL */
    double (*work)(const ac_call* call); /* may be NULL */
    double ns_per_element;
    uint32_t dtypes;
    ac_describe_fn describe; /* may be NULL */
} ac_kernel_entry;

typedef struct ac_kernel_table {
    uint32_t size; /* sizeof(ac_kernel_table) */
    uint32_t api;  /* AC_KERNEL_API_VERSION */
    const char* name;
    const ac_kernel_entry* entries;
    int64_t count;
    const struct ac_kernel_table* next; /* another set of the library, or NULL */
} ac_kernel_table;

#ifdef __cplusplus
}
#endif
#endif /* AUTOCALC_KERNEL_H */
