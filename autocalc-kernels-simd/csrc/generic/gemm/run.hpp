// SPDX-License-Identifier: MIT
//
// A whole product: its tasks, each of which goes one of the paths.
#pragma once

#include "gemm/blocks.hpp"
#include "gemm/dots.hpp"
#include "gemm/gemv.hpp"
#include "gemm/swapped.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// ---- tasks

template <class T>
AC_INLINE int64_t block_columns(const Plan& plan) {
    return ceil_div(plan.n_units, plan.n_tasks) * plan.n_unit;
}

template <class T>
bool open_workspace(const Job<T>& job, Workspace<T>& workspace) {
    const Gemm<T>& p = *job.product;
    const Plan& plan = job.plan;
    workspace = {&job, nullptr, nullptr, nullptr, 0};
    if (plan.strategy == Strategy::dots || plan.strategy == Strategy::vector)
        return true;
    const int64_t k = ceil_div(p.k, plan.k_blocks);
    const int64_t columns = block_columns<T>(plan);
    if (job.shared_b == nullptr &&
        (plan.strategy != Strategy::direct || p.n % vec<T>::lanes != 0)) {
        if (kept.number == job.number && kept.packed != nullptr) {
            workspace.packed_b = static_cast<T*>(kept.packed);
            workspace.packed_from = static_cast<const T*>(kept.from);
            workspace.packed_columns = kept.columns;
        } else {
            workspace.packed_b = scratch_of<T>(job.context, slot_b, columns * k);
            if (workspace.packed_b == nullptr) return false;
        }
    }
    int64_t rows = 0;
    if (plan.strategy == Strategy::swapped) {  // whole squares are read
        rows = 2 * slab_rows<T>(plan) * columns;
    } else if (plan.pack_a == PackA::tile) {
        rows = plan.tile_m * k;
    } else if (plan.pack_a == PackA::groups) {
        rows = groups_at_once * group_size<T>(plan.group_width, k);
    }
    if (rows != 0) workspace.packed_a = scratch_of<T>(job.context, slot_a, rows);
    return rows == 0 || workspace.packed_a != nullptr;
}

// Where the b of task `index` begins, if that is none of task `before`.
template <class T>
const T* next_b(const Job<T>& job, int64_t before, int64_t index) {
    const Gemm<T>& p = *job.product;
    const Plan& plan = job.plan;
    const int64_t n = index / plan.m_tasks;
    if (n == before / plan.m_tasks || n >= plan.batch * plan.n_tasks) return nullptr;
    return matrices_at(p, n / plan.n_tasks).b +
           Shares(plan.n_units, plan.n_tasks).at(n % plan.n_tasks) * plan.n_unit *
               p.b_col;
}

// Tasks count rows fastest. A thread's tasks of the same columns are done as one block,
// so that it packs the block of b once; where a tile ends does not change a sum. Those
// of one row are one block too.
template <class T>
AC_NOINLINE bool run_some_tasks(Job<T>& job, int64_t begin, int64_t end) {
    const Gemm<T>& p = *job.product;
    const Plan& plan = job.plan;
    Workspace<T> workspace;
    if (!open_workspace(job, workspace)) return false;
    const Shares down(plan.m_units, plan.m_tasks);
    const Shares across(plan.n_units, plan.n_tasks);
    while (begin < end) {
        const int64_t m = begin % plan.m_tasks;
        const int64_t n = begin / plan.m_tasks % plan.n_tasks;
        const int64_t m_end = smaller(plan.m_tasks, m + end - begin);
        const int64_t n_end = plan.strategy == Strategy::vector
                                  ? smaller(plan.n_tasks, n + end - begin)
                                  : n + 1;
        const Matrices<T> at = matrices_at(p, begin / plan.m_tasks / plan.n_tasks);
        const Block block = {
            down.at(m) * plan.tile_m, smaller(p.m, down.at(m_end) * plan.tile_m),
            across.at(n) * plan.n_unit, smaller(p.n, across.at(n_end) * plan.n_unit)};
        if (plan.strategy == Strategy::dots) {
            run_dot_block(p, at, block);
        } else if (plan.strategy == Strategy::vector) {
            run_vector_block(p, at, block);
        } else if (plan.strategy == Strategy::swapped) {
            run_swapped(workspace, at, block);
        } else {
            run_block(workspace, at, block,
                      next_b(job, begin, begin + (m_end - m) * (n_end - n)));
        }
        begin += (m_end - m) * (n_end - n);
    }
    kept = {job.number, workspace.packed_b, workspace.packed_from,
            workspace.packed_columns};
    return true;
}

template <class T>
AC_INLINE bool run_tasks(Job<T>& job, int64_t begin, int64_t end) {
    return in_phase(job.context, AC_PHASE_COMPUTE,
                    [&] { return run_some_tasks(job, begin, end); });
}

// ---- b packed once for all threads: worth it where each of them would need all of it

template <class T>
struct SharedPacking {
    const Gemm<T>* product;
    const Plan* plan;
    T* out;
    int64_t panels;  // of a block, at most
};

template <class T>
void pack_shared(const SharedPacking<T>& job, int64_t begin, int64_t end) {
    const Gemm<T>& p = *job.product;
    const Plan& plan = *job.plan;
    const Shares across(plan.n_units, plan.n_tasks);
    for (int64_t t = begin; t < end; ++t) {
        const int64_t n = t / job.panels;
        const int64_t n0 = across.at(n) * plan.n_unit;
        const int64_t n1 = smaller(p.n, across.at(n + 1) * plan.n_unit);
        const Panels<T> panels(n1 - n0, plan.panel);
        if (t % job.panels < panels.count) {
            pack_panel(p.k, panels.at(t % job.panels), p.b + n0 * p.b_col, p.b_row,
                       p.b_col, job.out + n0 * p.k);
        }
    }
}

// Of one or two panels each thread had better pack its own meanwhile: that keeps them
// in its L2 and all threads at work, 1.0 to 1.1 times as fast for 32 to 128 rows of x
// through a linear layer on two threads.
constexpr int64_t enough_to_share = 3;

template <class T>
bool share_b(Job<T>& job, int64_t tasks) {
    const Gemm<T>& p = *job.product;
    if (job.plan.strategy != Strategy::swapped || job.plan.batch != 1 || tasks == 1)
        return true;
    const int64_t panels = Panels<T>(block_columns<T>(job.plan), job.plan.panel).count;
    if (job.plan.n_tasks * panels < enough_to_share) return true;
    T* out = scratch_of<T>(job.context, slot_shared,
                           job.plan.n_units * job.plan.n_unit * p.k);
    if (out == nullptr) return false;
    SharedPacking<T> packing = {&p, &job.plan, out, panels};
    parallel(job.context, job.plan.n_tasks * panels, true,
             [&](int64_t begin, int64_t end) {
                 const Phase phase(job.context, AC_PHASE_PACK);
                 pack_shared(packing, begin, end);
             });
    job.shared_b = out;
    return true;
}

// ---- the product

// Rows of the batch that are evenly spaced become rows of one product.
template <class T>
void fold_batch(Gemm<T>& p) {
    while (p.batch_dims > 0) {
        const int d = p.batch_dims - 1;
        if (p.batch[d] != 1) {
            if (p.m == 1) {
                p.a_row = p.a_step[d];
                p.c_row = p.c_step[d];
                p.pre_row = p.pre_step[d];
            }
            if (p.b_step[d] != 0 || p.a_step[d] != p.m * p.a_row ||
                p.c_step[d] != p.m * p.c_row ||
                (p.pre != nullptr && p.pre_step[d] != p.m * p.pre_row)) {
                return;
            }
            p.m *= p.batch[d];
        }
        p.batch_dims = d;
    }
}

// The stride of a dim of size 1 means nothing: it becomes what suits the kernels.
template <class T>
void tidy_strides(Gemm<T>& p) {
    if (p.k == 1) p.a_col = p.b_row = 1;
    if (p.n == 1 && p.b_row != 1) p.b_col = 1;
    if (p.m == 1 && p.a_col != 1) p.a_row = 1;
}

// Mask and epilogue of paths that leave them to a pass of their own.
template <class T>
void finish_product(const Gemm<T>& p, int64_t rows, int64_t columns,
                    ac_context* context) {
    const Epilogue<T>& e = p.epilogue;
    if (p.mask == nullptr && !e.any()) return;
    parallel(
        context, rows, rows * columns > serial_work, [&](int64_t begin, int64_t end) {
            const Phase phase(context, AC_PHASE_EPILOGUE);
            T* c = p.c + begin * p.c_row;
            if (p.mask != nullptr)
                mask_rows(end - begin, columns, c, p.c_row, p.mask + begin * p.mask_row,
                          p.mask_row);
            const T* other =
                e.other == nullptr ? nullptr : e.other + begin * e.other_row;
            if (e.any())
                finish_rows(e, end - begin, columns, c, p.c_row, other, e.other_row);
        });
}

// A product that is ready to run.
template <class T>
struct Prepared {
    Gemm<T> product;
    Job<T> job;
    int64_t tasks;
    bool worthwhile;
    int64_t rows, columns;  // of c, whatever the plan exchanges

    Prepared(const Gemm<T>& given, ac_context* context) : product(given) {
        rows = product.m;
        columns = product.n;
        fold_batch(product);
        tidy_strides(product);
        int64_t elements = product.m * product.n;
        for (int d = 0; d < product.batch_dims; ++d) elements *= product.batch[d];
        tasks = 0;
        worthwhile = false;
        if (elements == 0) return;
        job = {&product, make_plan(product, context), context, nullptr, next_number()};
        tasks = job.plan.batch * job.plan.m_tasks * job.plan.n_tasks;
        worthwhile = elements * product.k >= serial_work && tasks > 1;
    }
    Prepared(const Prepared&) = delete;
    Prepared& operator=(const Prepared&) = delete;

    bool run() {
        if (worthwhile && !share_b(job, tasks)) return false;
        const bool done = try_parallel(
            job.context, tasks, worthwhile,
            [&](int64_t begin, int64_t end) { return run_tasks(job, begin, end); });
        finish();
        return done;
    }

    // Other paths than those by blocks leave mask and epilogue to a pass after them.
    void finish() const {
        const Gemm<T>& p = product;
        const Strategy strategy = job.plan.strategy;
        const bool by_blocks =
            strategy == Strategy::packed || strategy == Strategy::direct;
        if (tasks == 0 || by_blocks) return;
        finish_product(p, rows, columns, job.context);
    }
};

template <class T>
bool multiply_typed(const Gemm<T>& product, ac_context* context) {
    Prepared<T> one(product, context);
    return one.run();
}

// One run of the pool in place of three: no thread waits between them, and a thread
// that stays within one product packs no b but its own.
template <class T>
bool multiply_typed(const Gemm<T>& first, const Gemm<T>& second, const Aside& aside,
                    ac_context* context) {
    Prepared<T> a(first, context), b(second, context);
    const auto swapped = [](const Prepared<T>& one) {
        return one.tasks != 0 && one.job.plan.strategy == Strategy::swapped;
    };
    if (!a.worthwhile || !b.worthwhile || swapped(a) || swapped(b)) {
        if (!a.run() || !b.run()) return false;
        run_apart(aside, context);
        return true;
    }
    const int64_t behind = a.tasks + b.tasks;
    const bool done = try_parallel(
        context, behind + aside.tasks, true, [&](int64_t begin, int64_t end) {
            const int64_t to_b = larger(begin, a.tasks),
                          to_aside = larger(begin, behind);
            if (begin < a.tasks && !run_tasks(a.job, begin, smaller(end, a.tasks)))
                return false;
            if (to_b < smaller(end, behind) &&
                !run_tasks(b.job, to_b - a.tasks, smaller(end, behind) - a.tasks))
                return false;
            if (to_aside >= end) return true;
            const Phase phase(context, AC_PHASE_EPILOGUE);
            aside.run(aside.job, to_aside - behind, end - behind);
            return true;
        });
    a.finish();
    b.finish();
    return done;
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
