// SPDX-License-Identifier: MIT
//
// Several elementwise kernels in one pass over memory.
//
// A chain is a short program. Each step asks its kernel for the loop that it would run
// (`capture`), and the loops then run one after another over tiles that stay in the L1
// cache: an element goes through the same instructions as in calls one by one, so the
// bits are the same. What one step makes and another reads is in a register, a tile of
// memory, unless another call needs it too.
//
// The program is a list of words: the number of registers (4 bits) and their dtypes (4
// bits each), then for each step
//
//     kernel (16 bits, its place in the table), number of attributes (4) and of
//     operands (4), operands (7 bits each) in the order of the signature
//
// and its attributes, floats by their bits. Operands from 0 on are the call's arrays,
// outputs first, from 32 on registers; 127 is absent.
#include "common/families.hpp"
#include "elementwise/elementwise.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

constexpr int most_arrays = 16;
constexpr int most_steps = 16;
constexpr int most_registers = 8;
constexpr int first_register = 32, absent = 127;

// Bytes of a register, and between two: not a page, whose lines would all compete.
constexpr int64_t register_bytes = 4096, register_room = register_bytes + 192;

struct Step {
    const ac_kernel_entry* entry;
    const ac_attribute* attributes;
    int operands;
    uint8_t operand[max_operands];  // of the signature
    uint8_t run[max_operands];      // of the loop
    Captured loop;
};

// Arrays come first among the values, then registers.
struct Chain {
    NestOf<most_arrays> nest;
    const ac_array* arrays[most_arrays];
    ac_array registers[most_registers];
    ac_attribute attributes[most_steps * 2];
    Step steps[most_steps];
    int arrays_count, registers_count, steps_count;
    int64_t tile;     // elements
    int64_t threads;  // from so many elements on
};

// ---- reading the program
struct Words {
    const int64_t* at;
    const int64_t* end;
};

AC_INLINE int field(int64_t word, int from, int bits) {
    return static_cast<int>(static_cast<uint64_t>(word) >> from &
                            ((uint64_t{1} << bits) - 1));
}

inline bool is_value(const Chain& chain, int operand) {
    return operand == absent || operand < chain.arrays_count ||
           (operand >= first_register &&
            operand < first_register + chain.registers_count);
}

inline bool read_step(Chain& chain, Words& words, ac_attribute*& attributes) {
    if (chain.steps_count == most_steps) return false;
    Step& step = chain.steps[chain.steps_count++];
    const int64_t word = *words.at++;
    const int count = field(word, 16, 4);
    step.entry = kernel_at(field(word, 0, 16));
    step.operands = field(word, 20, 4);
    step.attributes = attributes;
    if (step.entry == nullptr || step.entry->signature[0] != '~') return false;
    if (step.operands < 2 || step.operands > max_operands) return false;
    if (words.end - words.at < count) return false;
    if (attributes + count > chain.attributes + most_steps * 2) return false;
    for (int k = 0; k < step.operands; ++k) {
        step.operand[k] = static_cast<uint8_t>(field(word, 24 + 7 * k, 7));
        if (!is_value(chain, step.operand[k])) return false;
    }
    for (int i = 0; i < count; ++i) (attributes++)->v.i = *words.at++;
    return true;
}

inline bool same_shape(const ac_array& a, const ac_array& b) {
    bool same = a.ndim == b.ndim;
    for (int d = 0; same && d < a.ndim; ++d) same = a.shape[d] == b.shape[d];
    return same;
}

inline bool read_arrays(Chain& chain, const ac_call* call) {
    const ac_operand &outs = list(call, 0), &ins = list(call, 1);
    if (outs.count < 1 || outs.count > most_outputs<most_arrays>) return false;
    if (outs.count + ins.count > most_arrays) return false;
    chain.arrays_count = static_cast<int>(outs.count + ins.count);
    for (int k = 0; k < chain.arrays_count; ++k) {
        const ac_array* a =
            k < outs.count ? outs.arrays + k : ins.arrays + (k - outs.count);
        if (!same_shape(*a, *outs.arrays)) return false;
        chain.arrays[k] = a;
    }
    return true;
}

// Zeros for a kernel that looks at an operand before its loop runs.
alignas(8) char no_data[8];

inline void make_register(ac_array& a, const ac_array& like, int dtype) {
    a = like;
    a.dtype = dtype;
    a.data = no_data;
    int64_t stride = size_of(dtype);
    for (int d = like.ndim - 1; d >= 0; --d) {
        a.strides[d] = stride;
        stride *= like.shape[d];
    }
}

inline bool read(Chain& chain, const ac_call* call) {
    const auto& program = call->attributes[0].v.list;
    Words words = {program.values, program.values + program.count};
    chain.steps_count = 0;
    if (program.count < 2 || !read_arrays(chain, call)) return false;
    const int64_t dtypes = *words.at++;
    chain.registers_count = field(dtypes, 0, 4);
    if (chain.registers_count > most_registers) return false;
    for (int r = 0; r < chain.registers_count; ++r) {
        const int dtype = field(dtypes, 4 + 4 * r, 4);
        if (dtype >= dtype_count) return false;
        make_register(chain.registers[r], *chain.arrays[0], dtype);
    }
    ac_attribute* attributes = chain.attributes;
    while (words.at < words.end)
        if (!read_step(chain, words, attributes)) return false;
    return true;
}

// ---- asking the kernels
inline const ac_array* array_of(const Chain& chain, int operand) {
    if (operand == absent) return nullptr;
    return operand < first_register ? chain.arrays[operand]
                                    : &chain.registers[operand - first_register];
}

inline bool ask(const Chain& chain, Step& step) {
    const ac_array nothing = {};
    const ac_array* arrays[max_operands];
    ac_operand operands[max_operands];
    for (int k = 0; k < step.operands; ++k) {
        arrays[k] = array_of(chain, step.operand[k]);
        operands[k] = {arrays[k] == nullptr ? &nothing : arrays[k], 1};
    }
    const ac_call call = {
        sizeof(ac_call), AC_KERNEL_API_VERSION, 1, step.operands - 1, 0, 0,
        operands,        step.attributes};
    ac_context listener = {sizeof(ac_context),
                           AC_KERNEL_API_VERSION,
                           1,
                           0,
                           nullptr,
                           nullptr,
                           &step.loop,
                           nullptr};
    ac_status status = {AC_DONE, 0, 0, 0};
    step.loop.kernel = nullptr;
    step.entry->function(&call, &listener, &status);
    if (status.code != AC_DONE || step.loop.kernel == nullptr) return false;
    for (int i = 0; i < step.loop.operands; ++i) {
        int k = 0;
        while (k < step.operands && arrays[k] != step.loop.arrays[i]) ++k;
        if (k == step.operands) return false;
        step.run[i] = step.operand[k];
    }
    return true;
}

inline bool ask_all(Chain& chain) {
    int64_t weight = 0, item = 1;
    for (int k = 0; k < chain.steps_count; ++k) {
        Step& step = chain.steps[k];
        if (!ask(chain, step)) return false;
        weight += step.loop.cost == Cost::cheap ? 1 : 2;
        for (int i = 0; i < step.operands; ++i) {
            const ac_array* a = array_of(chain, step.operand[i]);
            if (a != nullptr) item = larger(item, size_of(a->dtype));
        }
    }
    chain.tile = register_bytes / item;
    chain.threads = larger(threads_from(Cost::cheap) / weight, 2 * element_tile);
    return true;
}

// ---- running
void chain_run(void* const* arrays, int64_t n, const void* parameters) {
    const Chain& chain = *static_cast<const Chain*>(parameters);
    alignas(64) char room[most_registers * register_room];
    char* value[first_register + most_registers];
    for (int r = 0; r < chain.registers_count; ++r)
        value[first_register + r] = room + r * register_room;
    for (int64_t begin = 0; begin < n; begin += chain.tile) {
        const int64_t some = smaller(chain.tile, n - begin);
        for (int k = 0; k < chain.arrays_count; ++k)
            value[k] = static_cast<char*>(arrays[k]) + begin * chain.nest.item[k];
        for (int s = 0; s < chain.steps_count; ++s) {
            const Step& step = chain.steps[s];
            void* run[max_operands];
            for (int k = 0; k < step.loop.operands; ++k) run[k] = value[step.run[k]];
            step.loop.kernel(run, some, step.loop.parameters);
        }
    }
}

void chain_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    Chain chain;
    if (!read(chain, call) || !ask_all(chain)) return unsupported(status);
    make_nest(chain.nest, chain.arrays, chain.arrays_count,
              static_cast<int>(list(call, 0).count));
    run_whole(context, chain.nest, chain.threads, chain_run, &chain);
    done(status);
}

double chain_work(const ac_call* call) {
    Chain chain;
    if (!read(chain, call)) return 0;
    double ns = 0;
    for (int k = 0; k < chain.steps_count; ++k)
        ns += chain.steps[k].entry->ns_per_element;
    return ns * static_cast<double>(element_count(*chain.arrays[0]));
}

const ac_kernel_entry entries[] = {
    {"elementwise_chain", "outs* ; ins* ; program:ints", chain_kernel, nullptr,
     chain_work, 0, 0, nullptr},
};

}  // namespace
AC_DEFINE_FAMILY(chain, entries);
}  // namespace autocalc::simd::AC_ISA
