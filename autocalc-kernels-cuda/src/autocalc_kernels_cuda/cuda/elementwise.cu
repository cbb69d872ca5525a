// SPDX-License-Identifier: MIT
// The operators of elementwise kernels.
//
// `Wide` is the type that formulas of several roundings are computed in: float64, and
// rounded once.  Functions of float32 alone are used where their documented error is
// within the kernel's budget (CUDA C++ Programming Guide, "Mathematical Functions").
#include "elementwise.cuh"
#include "gelu.cuh"

typedef double Wide;

#define OP1(NAME, ...)                                                                 \
  struct NAME {                                                                        \
    template <typename T> static __device__ __forceinline__ auto run(T a,              \
                                                                     const double *p) {\
      __VA_ARGS__                                                                      \
    }                                                                                  \
  };
#define OP2(NAME, ...)                                                                 \
  struct NAME {                                                                        \
    template <typename T>                                                              \
    static __device__ __forceinline__ auto run(T a, T b, const double *p) {            \
      __VA_ARGS__                                                                      \
    }                                                                                  \
  };

// A function of one number in float64, rounded once.
#define WIDE1(NAME, EXPRESSION)                                                        \
  OP1(NAME, const Wide x = (Wide)a; return (T)(EXPRESSION);)
#define WIDE2(NAME, EXPRESSION)                                                        \
  OP2(NAME, const Wide x = (Wide)a; const Wide y = (Wide)b; return (T)(EXPRESSION);)

// A function that CUDA has for float32 and float64, each precise enough.
#define BOTH1(NAME, NARROW, WIDE)                                                      \
  struct NAME {                                                                        \
    static __device__ __forceinline__ float run(float a, const double *) {             \
      return NARROW(a);                                                                \
    }                                                                                  \
    static __device__ __forceinline__ double run(double a, const double *) {           \
      return WIDE(a);                                                                  \
    }                                                                                  \
  };

// ------------------------------------------------------------ copies and choices

OP1(Copy, return a;)
OP2(First, return a;)

struct Where {
  template <typename T>
  static __device__ __forceinline__ T run(bool condition, T a, T b, const double *) {
    return condition ? a : b;
  }
};

OP2(Equal, return a == b;)
OP2(NotEqual, return a != b;)
OP2(Less, return a < b;)
OP2(LessEqual, return a <= b;)
OP2(Greater, return a > b;)
OP2(GreaterEqual, return a >= b;)
OP2(Maximum, return larger(a, b);)
OP2(Minimum, return smaller(a, b);)
OP2(Fmax, return a > b || b != b ? a : b;)
OP2(Fmin, return a < b || b != b ? a : b;)

// y + alpha * x, rounded once.
struct Axpy {
  template <typename T>
  static __device__ __forceinline__ T run(T y, T alpha, T x, const double *) {
    return fma(alpha, x, y);
  }
};

struct Clamp {
  template <typename T>
  static __device__ __forceinline__ T run(T a, T low, T high, const double *) {
    return smaller(larger(a, low), high);
  }
};

// The gradient of clamp, where low and high are there or not.
struct ClampBackwardLow {
  template <typename T>
  static __device__ __forceinline__ T run(T g, T a, T low, const double *) {
    return a >= low ? g : T(0);
  }
};

struct ClampBackwardHigh {
  template <typename T>
  static __device__ __forceinline__ T run(T g, T a, T high, const double *) {
    return a <= high ? g : T(0);
  }
};

struct ClampBackward {
  template <typename T>
  static __device__ __forceinline__ T run(T g, T a, T low, T high, const double *) {
    return a >= low && larger(a, low) <= high ? g : T(0);
  }
};

// ------------------------------------------------------------ arithmetic

OP2(Add, return (T)(a + b);)
OP2(Sub, return (T)(a - b);)
OP2(Mul, return (T)(a * b);)
OP2(Div, return a / b;)
OP1(Reciprocal, return T(1) / a;)
OP1(Neg, return (T)(-a);)
OP1(Abs, return (T)(a > T(0) ? a : a == T(0) ? T(0) : (T)(-a));)
OP1(Sign, return (T)((a > T(0)) - (a < T(0)));)
OP1(Signbit, return signbit(a);)
OP2(Copysign, return (T)copysign(a, b);)
WIDE2(Pow, y == 2 ? x * x : pow(x, y))

OP2(Fmod, return (T)fmod(a, b);)

// fmod is exact; its result says on which side of the quotient the floor is.
OP2(Remainder, const Wide x = (Wide)a; const Wide y = (Wide)b;
    const Wide left = fmod(x, y); if (left != 0) return (T)(
        (y < 0) != (left < 0) ? left + y : left);
    return (T)copysign(left, y);)

OP2(FloorDivide, const Wide x = (Wide)a; const Wide y = (Wide)b;
    if (y == 0) return (T)(x / y);
    const Wide left = fmod(x, y); Wide quotient = (x - left) / y;
    if (left != 0 && (y < 0) != (left < 0)) quotient -= 1;
    if (quotient == 0) return (T)copysign(0.0, x / y);
    const Wide whole = floor(quotient);
    return (T)(quotient - whole > 0.5 ? whole + 1 : whole);)

OP2(BitAnd, return (T)(a & b);)
OP2(BitOr, return (T)(a | b);)
OP2(BitXor, return (T)(a ^ b);)
OP2(ShiftLeft, return (T)(a << b);)
OP2(ShiftRight, return (T)(a >> b);)

struct BitNot {
  template <typename T> static __device__ __forceinline__ T run(T a, const double *) {
    return (T)~a;
  }
  static __device__ __forceinline__ bool run(bool a, const double *) { return !a; }
};

// ------------------------------------------------------------ roundings

OP1(Floor, return (T)floor(a);)
OP1(Ceil, return (T)ceil(a);)
OP1(Trunc, return (T)trunc(a);)
OP1(Even, return (T)rint(a);)

// p: what replaces NaN, infinity and minus infinity
OP1(NanToNum, if (a != a) return (T)p[0];
    if (a == Limits<T>::infinity()) return (T)p[1];
    return a == -Limits<T>::infinity() ? (T)p[2] : a;)

OP2(Heaviside, return a == T(0) ? b : a > T(0) ? T(1) : a < T(0) ? T(0) : a;)

// ------------------------------------------------------------ functions

BOTH1(Exp, expf, exp)
BOTH1(Expm1, expm1f, expm1)
BOTH1(Log, logf, log)
BOTH1(Log2, log2f, log2)
BOTH1(Log1p, log1pf, log1p)
BOTH1(Sqrt, sqrtf, sqrt)
BOTH1(Sin, sinf, sin)
BOTH1(Cos, cosf, cos)
BOTH1(Erf, erff, erf)
WIDE1(Exp2, exp2(x))
WIDE1(Log10, log10(x))
WIDE1(Rsqrt, 1 / sqrt(x))
WIDE1(Erfc, erfc(x))
WIDE1(Tan, tan(x))
WIDE1(Asin, asin(x))
WIDE1(Acos, acos(x))
WIDE1(Atan, atan(x))
WIDE2(Atan2, atan2(x, y))
WIDE1(Sinh, sinh(x))
WIDE1(Cosh, cosh(x))
WIDE1(Tanh, tanh(x))
WIDE1(Asinh, asinh(x))
WIDE1(Acosh, acosh(x))
WIDE1(Atanh, atanh(x))
WIDE2(Hypot, hypot(x, y))

OP1(Sinc, const Wide x = (Wide)a; if (x == 0) return T(1);
    const Wide whole = rint(x); const Wide sine = sinpi(x - whole);
    return (T)((fmod(whole, 2.0) == 0 ? sine : -sine) /
               (3.14159265358979323846 * x));)

// Infinities of one sign and equal numbers: their difference, if any, is 0.
OP2(Logaddexp, const Wide x = (Wide)a; const Wide y = (Wide)b;
    if (x == y) return (T)(x + 0.69314718055994530942);
    if (x != x || y != y) return (T)(x + y);
    return (T)(fmax(x, y) + log1p(exp(-fabs(x - y))));)
OP2(Logaddexp2, const Wide x = (Wide)a; const Wide y = (Wide)b;
    if (x == y) return (T)(x + 1);
    if (x != x || y != y) return (T)(x + y);
    return (T)(fmax(x, y) + 1.44269504088896340736 * log1p(exp2(-fabs(x - y))));)
OP2(Xlogy, const Wide x = (Wide)a; const Wide y = (Wide)b;
    return (T)(y != y ? y : x * log(x == 0 ? 1.0 : y));)
OP2(Xlog1py, const Wide x = (Wide)a; const Wide y = (Wide)b;
    return (T)(y != y ? y : x * log1p(x == 0 ? 0.0 : y));)

// ------------------------------------------------------------ activations

// 1 / (1 + exp(-x)) without overflow.  Below 0 it is e - e * e / (1 + e), e = exp(x):
// one rounding after that of e, where e / (1 + e) has two.
__device__ __forceinline__ Wide sigmoid(Wide x) {
  const Wide e = exp(-fabs(x));
  return x < 0 ? fma(-e, e / (1 + e), e) : 1 / (1 + e);
}

OP1(Relu, return larger(a, T(0));)
OP2(ReluBackward, return b <= T(0) ? T(0) : a;)
WIDE1(Sigmoid, sigmoid(x))
WIDE2(SigmoidBackward, x * (y * (1 - y)))
WIDE2(TanhBackward, x * ((1 - y) * (1 + y)))
WIDE1(Silu, x * sigmoid(x))
WIDE2(SiluBackward, x * (sigmoid(y) * (1 + y * sigmoid(-y))))

OP1(Gelu, return gelu(a);)
WIDE1(GeluTanh, gelu_tanh(x))
OP2(GeluBackward, return a * gelu_slope(b);)

// Beyond |a| = 10 the square need not grow: it would be infinite, and 0 * inf is NaN.
OP2(GeluTanhBackward, const Wide x = (Wide)b; const Wide square = smaller(x * x, 100.0);
    const Wide z = 2 * ROOT * x * (1 + CUBIC * square);
    const Wide slope = 2 * ROOT * (1 + 3 * CUBIC * square); const Wide s = sigmoid(z);
    return (T)((Wide)a * (s + x * (s * sigmoid(-z)) * slope));)

// p: beta, threshold
OP1(Softplus, const Wide x = (Wide)a; const Wide z = p[0] * x;
    return (T)(z > p[1] ? x : (larger(z, 0.0) + log1p(exp(-fabs(z)))) / p[0]);)
OP2(SoftplusBackward, const Wide z = p[0] * (Wide)b;
    return (T)(z > p[1] ? (Wide)a : (Wide)a * sigmoid(z));)

// p: the slope, in the numbers' own format
OP1(LeakyRelu, return a > T(0) ? a : (T)((Wide)a * (Wide)(T)p[0]);)
OP2(LeakyReluBackward, return b > T(0) ? a : (T)((Wide)a * (Wide)(T)p[0]);)

// p: alpha, rate, scale
OP1(Elu, const Wide x = (Wide)a;
    return (T)(p[2] * (x > 0 ? x : p[0] * expm1(p[1] * x)));)
OP2(EluBackward, const Wide x = (Wide)b;
    return (T)((Wide)a * p[2] * (x > 0 ? 1.0 : p[0] * p[1] * exp(p[1] * x)));)

WIDE1(Hardswish, x *(smaller(larger(x + 3, 0.0), 6.0) / 6))
OP2(HardswishBackward, const Wide x = (Wide)b;
    if (x <= -3) return T(0);
    return x >= 3 ? a : (T)((Wide)a * ((x + 1.5) / 3));)

// p: low, high
OP1(Hardtanh, return smaller(larger(a, (T)p[0]), (T)p[1]);)
OP2(HardtanhBackward, return b <= (T)p[0] || b >= (T)p[1] ? T(0) : a;)
