// SPDX-License-Identifier: MIT
//
// Runs the kernels of one library for another process:
//
//     kernel_server kernels_neon.so autocalc_kernels_neon
//
// Requests come from standard input and answers go to standard output, so that the
// conformance kit can hold a library of another architecture, run by an emulator, to
// the same checks as one in its own process; tests/served/remote.py is the other side.
// A message is a run of int64 numbers and of bytes, in this machine's order.
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "autocalc_kernel.h"
#include "pool/pool.hpp"

namespace {

namespace runtime = autocalc::runtime;

enum Request : std::int64_t { describe = 0, call = 1, supports = 2, set_threads = 3 };
enum Kind : std::int64_t { kind_int = 0, kind_float = 1, kind_ints = 2 };

constexpr std::size_t alignment = 64;

[[noreturn]] void fail(const std::string& what) {
    std::fprintf(stderr, "kernel_server: %s\n", what.c_str());
    std::exit(2);
}

void read_bytes(void* to, std::size_t size) {
    if (size != 0 && std::fread(to, 1, size, stdin) != size)
        fail("a request ends early");
}
void write_bytes(const void* from, std::size_t size) {
    if (std::fwrite(from, 1, size, stdout) != size) fail("nobody reads the answer");
}
template <class T>
T read() {
    T value;
    read_bytes(&value, sizeof value);
    return value;
}
std::int64_t read_int() { return read<std::int64_t>(); }
void write_int(std::int64_t value) { write_bytes(&value, sizeof value); }
void write_text(const char* text) {
    const std::size_t size = std::strlen(text);
    write_int(static_cast<std::int64_t>(size));
    write_bytes(text, size);
}

// A copy of memory of the other process, as far from a multiple of 64 bytes as there.
class Block {
  public:
    Block(std::size_t past, std::size_t size)
        : size_(size), whole_(std::malloc(size + 2 * alignment)) {
        if (whole_ == nullptr) fail("no memory for an operand");
        const auto address = reinterpret_cast<std::uintptr_t>(whole_);
        bytes_ = static_cast<char*>(whole_) + (alignment - address % alignment) + past;
        read_bytes(bytes_, size_);
    }
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;
    ~Block() { std::free(whole_); }
    char* at(std::int64_t offset) const { return bytes_ + offset; }
    void answer() const { write_bytes(bytes_, size_); }

  private:
    std::size_t size_;
    void* whole_;
    char* bytes_ = nullptr;
};

// A call as the kernel gets it, and everything that it points to.
struct Call {
    std::deque<Block> blocks;
    std::deque<std::vector<ac_array>> arrays;
    std::vector<ac_operand> operands;
    std::deque<std::vector<std::int64_t>> lists;
    std::vector<ac_attribute> attributes;
    ac_call call{};

    Call() {
        for (std::int64_t n = read_int(); n > 0; --n) {
            const auto past = static_cast<std::size_t>(read_int());
            blocks.emplace_back(past, static_cast<std::size_t>(read_int()));
        }
        call.size = sizeof call;
        call.version = AC_KERNEL_API_VERSION;
        call.n_outputs = static_cast<std::int32_t>(read_int());
        call.n_inputs = static_cast<std::int32_t>(read_int());
        call.n_attributes = static_cast<std::int32_t>(read_int());
        for (int i = 0; i < call.n_outputs + call.n_inputs; ++i) read_operand();
        for (int i = 0; i < call.n_attributes; ++i) read_attribute();
        call.operands = operands.data();
        call.attributes = attributes.data();
    }

    void read_operand() {
        arrays.emplace_back();
        for (std::int64_t n = read_int(); n > 0; --n)
            arrays.back().push_back(read_array());
        operands.push_back(
            {arrays.back().data(), static_cast<std::int64_t>(arrays.back().size())});
    }

    // What is not known has no dims (-1), and nothing else follows.
    ac_array read_array() {
        ac_array a = {};
        a.present = static_cast<std::int32_t>(read_int());
        a.dtype = static_cast<std::int32_t>(read_int());
        a.ndim = static_cast<std::int32_t>(read_int());
        const std::int64_t block = read_int();
        const std::int64_t offset = read_int();
        if (block >= 0) a.data = blocks[static_cast<std::size_t>(block)].at(offset);
        for (int d = 0; d < a.ndim; ++d) a.shape[d] = read_int();
        for (int d = 0; d < a.ndim; ++d) a.strides[d] = read_int();
        return a;
    }

    void read_attribute() {
        ac_attribute attribute = {};
        const std::int64_t kind = read_int();
        if (kind == kind_int) {
            attribute.v.i = read_int();
        } else if (kind == kind_float) {
            attribute.v.f = read<double>();
        } else {
            lists.emplace_back(static_cast<std::size_t>(read_int()));
            for (std::int64_t& value : lists.back()) value = read_int();
            attribute.v.list = {lists.back().data(),
                                static_cast<std::int64_t>(lists.back().size())};
        }
        attributes.push_back(attribute);
    }
};

// Rounding mode, subnormals: what a kernel must leave as it was.
std::uint64_t floating_point_control() {
#if defined(__aarch64__)
    std::uint64_t control;
    asm volatile("mrs %0, fpcr" : "=r"(control));
    return control;
#elif defined(__x86_64__)
    std::uint32_t control;
    asm volatile("stmxcsr %0" : "=m"(control));
    return control & ~std::uint32_t{0x3f};  // less the flags of past exceptions
#else
    return 0;
#endif
}

void answer_description(const ac_kernel_table& table) {
    write_int(table.api);
    write_text(table.name);
    write_int(table.count);
    for (std::int64_t i = 0; i < table.count; ++i) {
        write_text(table.entries[i].name);
        write_text(table.entries[i].signature);
        write_int(table.entries[i].dtypes);
    }
}

void answer_call(const ac_kernel_entry& entry) {
    const Call request;
    const std::uint64_t before = floating_point_control();
    ac_status status = {AC_DONE, 0, 0, 0};
    entry.function(&request.call, runtime::kernel_context(), &status);
    if (floating_point_control() != before)
        fail(std::string(entry.name) + " changed the floating-point environment");
    write_int(status.code);
    write_int(status.operand);
    write_int(status.index);
    write_int(status.value);
    for (const Block& block : request.blocks) block.answer();
}

void answer_supports(const ac_kernel_entry& entry) {
    const Call request;
    const char* reason =
        entry.supports == nullptr ? nullptr : entry.supports(&request.call);
    write_text(reason == nullptr ? "" : reason);
}

const ac_kernel_table& open_table(const char* path, const char* symbol) {
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) fail(dlerror());
    void* function = dlsym(library, symbol);
    if (function == nullptr) fail(dlerror());
    return *reinterpret_cast<const ac_kernel_table* (*)()>(function)();
}

void serve(const ac_kernel_table& table) {
    std::int64_t request;
    while (std::fread(&request, sizeof request, 1, stdin) == 1) {
        if (request == describe) {
            answer_description(table);
        } else if (request == set_threads) {
            const int threads = static_cast<int>(read_int());
            runtime::set_num_threads(threads);
            runtime::set_team_limit(threads);
        } else {
            const std::int64_t index = read_int();
            if (index < 0 || index >= table.count) fail("there is no such kernel");
            if (request == call) {
                answer_call(table.entries[index]);
            } else {
                answer_supports(table.entries[index]);
            }
        }
        std::fflush(stdout);
    }
}

}  // namespace

int main(int count, char** words) {
    if (count != 3) fail("a library and its function are needed");
    serve(open_table(words[1], words[2]));
    return 0;
}
