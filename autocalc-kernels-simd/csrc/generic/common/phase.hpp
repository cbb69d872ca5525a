// SPDX-License-Identifier: MIT
//
// What a thread works on, for profiles: a scope of a phase within a task. Without a
// profile it is one comparison, so it goes around blocks and not into inner loops. A
// scope around `parallel` would count waiting; it belongs into the task.
#pragma once

#include "autocalc_kernel.h"
#include "common/base.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

class Phase {
  public:
    AC_INLINE Phase(const ac_context* context, ac_phase what)
        : clock_(ac_phases_of(context)) {
        if (__builtin_expect(clock_ != nullptr, 0)) before_ = clock_->enter(what);
    }
    AC_INLINE ~Phase() {
        if (__builtin_expect(clock_ != nullptr, 0)) clock_->enter(before_);
    }
    Phase(const Phase&) = delete;
    Phase& operator=(const Phase&) = delete;

    AC_INLINE void next(ac_phase what) const {
        if (__builtin_expect(clock_ != nullptr, 0)) clock_->enter(what);
    }

  private:
    const ac_phases* clock_;
    int32_t before_ = AC_PHASE_NONE;
};

// f() within a phase, f calling what is not inlined: a Phase in the same function takes
// registers from it, and a product of 8 x 8 then took 9 of 230 ns more without a
// profile.
template <class F>
AC_INLINE auto in_phase(const ac_context* context, ac_phase what, F&& f) {
    const ac_phases* clock = ac_phases_of(context);
    if (__builtin_expect(clock == nullptr, 1)) return f();
    const Phase phase(context, what);
    return f();
}

// Two phases that take turns too often for a clock, as the two passes over each row do.
// f(turns) is compiled for both of these: what is not timed pays nothing.
struct UntimedTurns {
    AC_INLINE void first() {}
    AC_INLINE void second() {}
    AC_INLINE void end() {}
};

// One turn in `sampled` is timed, and the scope's time is divided as these were.
class TimedTurns {
  public:
    TimedTurns(const ac_phases* clock, ac_phase first, ac_phase second)
        : clock_(clock),
          before_(clock->enter(first)),
          second_(second),
          began_(clock->now()) {}
    ~TimedTurns() {
        const double both = static_cast<double>(times_[0] + times_[1]);
        const double whole = static_cast<double>(clock_->now() - began_);
        if (both > 0) {
            const double share = static_cast<double>(times_[1]) / both;
            clock_->credit(second_, static_cast<uint64_t>(share * whole));
        }
        clock_->enter(before_);
    }
    TimedTurns(const TimedTurns&) = delete;
    TimedTurns& operator=(const TimedTurns&) = delete;

    AC_INLINE void first() {
        if (is_timed()) begin_ = clock_->now();
    }
    AC_INLINE void second() {
        if (is_timed()) middle_ = clock_->now();
    }
    AC_INLINE void end() {
        if (is_timed()) {
            times_[0] += middle_ - begin_;
            times_[1] += clock_->now() - middle_;
        }
        ++turns_;
    }

  private:
    static constexpr int64_t sampled = 8;

    [[nodiscard]] AC_INLINE bool is_timed() const { return turns_ % sampled == 0; }

    const ac_phases* clock_;
    int32_t before_;
    ac_phase second_;
    int64_t turns_ = 0;
    uint64_t began_, begin_ = 0, middle_ = 0;
    uint64_t times_[2] = {0, 0};
};

template <class F>
AC_INLINE bool in_turns(const ac_context* context, ac_phase first, ac_phase second,
                        F&& f) {
    const ac_phases* clock = ac_phases_of(context);
    if (__builtin_expect(clock != nullptr, 0)) {
        TimedTurns turns(clock, first, second);
        return f(turns);
    }
    UntimedTurns turns;
    return f(turns);
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
