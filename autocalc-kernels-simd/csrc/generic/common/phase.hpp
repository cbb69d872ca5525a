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
        : clock_(ac_phases_of(context)), before_(AC_PHASE_NONE) {
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
    int32_t before_;
};

// Two phases that take turns too often for a clock, as the two passes over each row do:
// one turn in `sampled` is timed, and the scope's time is divided as these were.
class PhasesInTurn {
  public:
    AC_INLINE PhasesInTurn(const ac_context* context, ac_phase first, ac_phase second)
        : clock_(ac_phases_of(context)),
          before_(AC_PHASE_NONE),
          second_(second),
          turns_(0),
          began_(0),
          begin_(0),
          middle_(0),
          times_{0, 0} {
        if (__builtin_expect(clock_ == nullptr, 1)) return;
        before_ = clock_->enter(first);
        began_ = clock_->now();
    }
    AC_INLINE ~PhasesInTurn() {
        if (__builtin_expect(clock_ != nullptr, 0)) finish();
    }
    PhasesInTurn(const PhasesInTurn&) = delete;
    PhasesInTurn& operator=(const PhasesInTurn&) = delete;

    AC_INLINE void first() {
        if (is_timed()) begin_ = clock_->now();
    }
    AC_INLINE void second() {
        if (is_timed()) middle_ = clock_->now();
    }
    AC_INLINE void end() {
        if (__builtin_expect(clock_ == nullptr, 1)) return;
        if (is_timed()) {
            times_[0] += middle_ - begin_;
            times_[1] += clock_->now() - middle_;
        }
        ++turns_;
    }

  private:
    static constexpr int64_t sampled = 8;

    [[nodiscard]] AC_INLINE bool is_timed() const {
        return __builtin_expect(clock_ != nullptr, 0) && turns_ % sampled == 0;
    }
    AC_NOINLINE void finish() {
        const double both = static_cast<double>(times_[0] + times_[1]);
        const double whole = static_cast<double>(clock_->now() - began_);
        if (both > 0) {
            const double share = static_cast<double>(times_[1]) / both;
            clock_->credit(second_, static_cast<uint64_t>(share * whole));
        }
        clock_->enter(before_);
    }

    const ac_phases* clock_;
    int32_t before_;
    ac_phase second_;
    int64_t turns_;
    uint64_t began_, begin_, middle_;
    uint64_t times_[2];
};

}  // namespace
}  // namespace autocalc::simd::AC_ISA
