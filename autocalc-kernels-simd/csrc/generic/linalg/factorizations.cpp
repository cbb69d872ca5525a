// SPDX-License-Identifier: MIT
//
// Factors of small matrices: Cholesky's, and Householder's QR with LAPACK's signs. Both
// types are computed in double and rounded once, as the reference does: one machine
// code. Cholesky's factors of larger ones are computed in blocks, in the type of the
// matrix.
#include "common/families.hpp"
#include "linalg/blocked.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

constexpr int64_t most = 32;  // rows and columns
// Whole vectors are read and written from any column on, beyond the last one too.
constexpr int64_t pitch = most + 8;
constexpr int64_t work_size = most * pitch;

enum class Part { whole, lower, upper };

// Strides are in elements.
template <class T>
AC_NOINLINE void read_rows(const T* from, int64_t down, int64_t across, int64_t rows,
                           int64_t columns, double* work) {
    for (int64_t i = 0; i < rows; ++i) {
        double* row = work + i * pitch;
        for (int64_t j = 0; j < columns; ++j) row[j] = from[i * down + j * across];
        memset(row + columns, 0, (pitch - most) * sizeof(double));
    }
}

template <class T>
AC_NOINLINE void write_rows(T* to, int64_t down, int64_t across, int64_t rows,
                            int64_t columns, const double* work, Part part) {
    for (int64_t i = 0; i < rows; ++i) {
        const double* row = work + i * pitch;
        for (int64_t j = 0; j < columns; ++j) {
            const bool outside = part == Part::upper ? j < i : j > i;
            to[i * down + j * across] =
                outside && part != Part::whole ? T(0) : T(row[j]);
        }
    }
}

void read_small(const Matrices& from, int64_t index, double* work) {
    const ac_array* a = from.array;
    if (a->dtype == AC_FLOAT32) {
        read_rows(reinterpret_cast<const float*>(from.at(index)),
                  stride_of<float>(a, -2), stride_of<float>(a, -1), from.rows,
                  from.columns, work);
    } else {
        read_rows(reinterpret_cast<const double*>(from.at(index)),
                  stride_of<double>(a, -2), stride_of<double>(a, -1), from.rows,
                  from.columns, work);
    }
}

// Zeros outside of `part`.
void write_small(const Matrices& to, int64_t index, const double* work, Part part) {
    const ac_array* a = to.array;
    if (a->dtype == AC_FLOAT32) {
        write_rows(reinterpret_cast<float*>(to.at(index)), stride_of<float>(a, -2),
                   stride_of<float>(a, -1), to.rows, to.columns, work, part);
    } else {
        write_rows(reinterpret_cast<double*>(to.at(index)), stride_of<double>(a, -2),
                   stride_of<double>(a, -1), to.rows, to.columns, work, part);
    }
}

// to += factor from, and at least one element of padding after both.
AC_NOINLINE void add_scaled(double* to, const double* from, double factor, int64_t n) {
    const vec<double> f = set1<double>(factor);
    for (int64_t i = 0; i < n; i += vec<double>::lanes) {
        store(to + i, fma(f, load(from + i), load(to + i)));
    }
}

// f(work, begin, end) over a batch of matrices; each thread has its own memory.
template <class F>
bool each_matrix(ac_context* context, const Matrices& a, int64_t works, F&& f) {
    // 65,536 multiplications take some 20 us.
    const int64_t count = a.count();
    const int64_t work = count * a.rows * a.columns * smaller(a.rows, a.columns);
    return try_parallel(context, count, work >= 65536, [&](int64_t begin, int64_t end) {
        double* memory = scratch_of<double>(context, 0, works * work_size);
        if (memory != nullptr) f(memory, begin, end);
        return memory != nullptr;
    });
}

// ---- Cholesky

// The lower triangle of `a` becomes the factor; false where a pivot is not positive, or
// infinite.
bool factor_lower(double* a, int64_t n) {
    alignas(64) double column[pitch] = {};
    for (int64_t k = 0; k < n; ++k) {
        const double pivot = a[k * pitch + k];
        if (!(pivot > 0 && pivot < __builtin_inf())) return false;
        const double root = __builtin_sqrt(pivot);
        for (int64_t i = k; i < n; ++i) {
            column[i] = a[i * pitch + k] = i == k ? root : a[i * pitch + k] / root;
            add_scaled(a + i * pitch + k + 1, column + k + 1, -column[i], i - k);
        }
    }
    return true;
}

// ---- Cholesky of larger matrices: A = U' U, where rows are what is computed with

constexpr int64_t band = 96;  // rows of a product; columns left of them are left out

template <class T>
struct Upper {
    ac_context* context;
    int64_t n;
    Block<T> a = {};
    bool positive = true;

    // False without memory.
    bool factor() {
        positive = true;
        for (int64_t first = 0; first < n; first += block_width) {
            const int64_t width = smaller(block_width, n - first), next = first + width;
            T inverse[block_width];
            factor_block(a.from(first, first), width, inverse);
            if (!positive) return true;
            const Block<T> right = a.from(first, next);
            solve_rows<T>(right, width, n - next,
                          {a.row(first) + first, 1, a.pitch, inverse, false});
            for (int64_t i = next; i < n; i += band) {
                const T* factors = a.row(first) + i;
                if (!subtract_product(context, a.from(i, i), factors, 1, a.pitch,
                                      a.from(first, i), smaller(band, n - i), n - i,
                                      width))
                    return false;
            }
        }
        return true;
    }

    AC_NOINLINE void factor_block(Block<T> block, int64_t width, T* inverse) {
        for (int64_t k = 0; k < width; ++k) {
            T* top = block.row(k);
            if (!(top[k] > 0 && static_cast<double>(top[k]) < __builtin_inf())) {
                positive = false;
                return;
            }
            const T root = static_cast<T>(__builtin_sqrt(static_cast<double>(top[k])));
            inverse[k] = T(1) / root;
            for (int64_t j = k + 1; j < width; ++j) top[j] *= inverse[k];
            top[k] = root;
            for (int64_t i = k + 1; i < width; ++i) {
                const vec<T> factor = set1<T>(top[i]);
                for (int64_t j = 0; j < width; j += vec<T>::lanes) {
                    T* to = block.row(i) + j;
                    store(to, fnma(factor, load(top + j), load(to)));
                }
            }
        }
    }
};

template <class T>
bool cholesky_in_blocks(ac_context* context, const Matrices& out, const Matrices& a,
                        int64_t& bad) {
    Upper<T> upper = {context, a.rows};
    if (!take(upper.a, context, 3, a.rows, a.rows)) return false;
    const int64_t n = a.rows, down = stride_of<T>(a.array, -2);
    const int64_t across = stride_of<T>(a.array, -1);
    const int64_t out_down = stride_of<T>(out.array, -2);
    const int64_t out_across = stride_of<T>(out.array, -1);
    for (int64_t index = 0; index < a.count(); ++index) {
        const T* from = reinterpret_cast<const T*>(a.at(index));
        each_element(n, n, [&](int64_t i, int64_t j) {
            upper.a.row(j)[i] = j > i ? T(0) : from[i * down + j * across];
        });
        if (!upper.factor()) return false;
        if (!upper.positive) {
            bad = index;
            return true;
        }
        T* to = reinterpret_cast<T*>(out.at(index));
        each_element(n, n, [&](int64_t i, int64_t j) {
            to[i * out_down + j * out_across] = j > i ? T(0) : upper.a.row(j)[i];
        });
    }
    return true;
}

void cholesky_large(ac_context* context, ac_status* status, const Matrices& out,
                    const Matrices& a) {
    int64_t bad = -1;
    const bool finished = out.array->dtype == AC_FLOAT32
                              ? cholesky_in_blocks<float>(context, out, a, bad)
                              : cholesky_in_blocks<double>(context, out, a, bad);
    done(status);
    if (!finished) return no_memory(status);
    if (bad >= 0) bad_value(status, 1, bad * a.rows * a.columns, 0);
}

void cholesky(const ac_call* call, ac_context* context, ac_status* status) {
    const Matrices out(operand(call, 0)), a(operand(call, 1));
    if (a.rows > most) return cholesky_large(context, status, out, a);
    int64_t bad = -1;
    const bool finished =
        each_matrix(context, a, 1, [&](double* work, int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
                read_small(a, i, work);
                if (!factor_lower(work, a.rows)) {
                    __atomic_store_n(&bad, i, __ATOMIC_RELAXED);
                    return;
                }
                write_small(out, i, work, Part::lower);
            }
        });
    if (!finished) return no_memory(status);
    if (bad >= 0) bad_value(status, 1, bad * a.rows * a.columns, 0);
}

// ---- QR

// The root of the sum of squares; where they are too large or too small for a double,
// of scaled elements.
AC_NOINLINE double norm(const double* x, int64_t n) {
    constexpr double scales[] = {1, 0x1p-540, 0x1p540};
    double total = 0, scale = 1;
    for (int turn = 0; turn < 3; ++turn) {
        scale = scales[turn];
        total = 0;
        for (int64_t i = 0; i < n; ++i) total += x[i] * scale * (x[i] * scale);
        if (total > 0x1p-900 && total < 0x1p1000) break;
    }
    return __builtin_sqrt(total) / scale;
}

// Makes the reflector 1 - tau v v' that zeroes column k below the diagonal, and
// answers tau; v begins at row k.
double make_reflector(double* a, int64_t rows, int64_t k, double* v) {
    for (int64_t i = k; i < rows; ++i) v[i] = a[i * pitch + k];
    const double alpha = v[k], below = norm(v + k + 1, rows - k - 1);
    v[k] = 1;
    if (below == 0) return 0;
    const double both[] = {alpha, below};
    const double beta = -__builtin_copysign(norm(both, 2), alpha);
    const vec<double> divisor = set1<double>(alpha - beta);
    for (int64_t i = k + 1; i < rows; i += vec<double>::lanes) {
        store(v + i, load(v + i) / divisor);
    }
    a[k * pitch + k] = beta;
    return (beta - alpha) / beta;
}

// a -= tau v (v' a), of rows from k and columns from `first` on.
AC_NOINLINE void reflect(double* a, int64_t rows, int64_t k, int64_t first,
                         int64_t columns, const double* v, double tau) {
    // Vectors that cross the border of two lines cannot be read as soon as they are
    // written: where the stack put them so, qr of 32 x 32 took 15 to 18 us instead of
    // 10.4.
    alignas(64) double sums[pitch] = {};
    const int64_t n = columns - first;
    if (tau == 0) return;
    for (int64_t i = k; i < rows; ++i) {
        add_scaled(sums, a + i * pitch + first, v[i], n);
    }
    for (int64_t i = k; i < rows; ++i) {
        add_scaled(a + i * pitch + first, sums, -tau * v[i], n);
    }
}

// a becomes R, and q the product of reflectors, which stay in `v`.
void factor_qr(double* a, double* v, double* tau, int64_t rows, int64_t columns) {
    for (int64_t k = 0; k < smaller(rows, columns); ++k) {
        tau[k] = make_reflector(a, rows, k, v + k * pitch);
        reflect(a, rows, k, k + 1, columns, v + k * pitch, tau[k]);
    }
}
void multiply_reflectors(double* q, const double* v, const double* tau, int64_t count,
                         int64_t rows, int64_t columns) {
    memset(q, 0, work_size * sizeof(double));
    for (int64_t i = 0; i < columns; ++i) q[i * pitch + i] = 1;
    for (int64_t k = count - 1; k >= 0; --k) {
        reflect(q, rows, k, k, columns, v + k * pitch, tau[k]);
    }
}

void qr(const ac_call* call, ac_context* context, ac_status* status) {
    const Matrices q(operand(call, 0)), r(operand(call, 1)), a(operand(call, 2));
    const bool finished =
        each_matrix(context, a, 2, [&](double* work, int64_t begin, int64_t end) {
            double* v = work + work_size;
            double tau[most];
            for (int64_t i = begin; i < end; ++i) {
                read_small(a, i, work);
                factor_qr(work, v, tau, a.rows, a.columns);
                write_small(r, i, work, Part::upper);
                multiply_reflectors(work, v, tau, smaller(a.rows, a.columns), q.rows,
                                    q.columns);
                write_small(q, i, work, Part::whole);
            }
        });
    if (!finished) no_memory(status);
}

const char* qr_supports(const ac_call* call) {
    const ac_array* a = operand(call, 2);
    const bool small = a->ndim >= 2 && dim_of(a, -1) <= most && dim_of(a, -2) <= most;
    return small ? nullptr : "matrices of 32 rows and columns at most";
}

const ac_kernel_entry entries[] = {
    {"cholesky", "out ; a", cholesky, nullptr, nullptr, 8.0, float_dtypes, nullptr},
    {"qr", "q r ; a ; mode:reduced,complete", qr, qr_supports, nullptr, 20.0,
     float_dtypes, nullptr},
};

}  // namespace
AC_DEFINE_FAMILY(factorizations, entries);
}  // namespace autocalc::simd::AC_ISA
