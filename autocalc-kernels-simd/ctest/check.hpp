// SPDX-License-Identifier: MIT
//
// Thirty lines that stand in for a test library: TEST(name) { CHECK(condition); }.
#pragma once

#include <cstdio>

namespace autocalc::check {

struct Test {
    const char* name;
    void (*run)();
    Test* next;
};

extern Test* tests;
extern int failures;

struct Registration {
    Test test;
    Registration(const char* name, void (*run)()) : test{name, run, tests} {
        tests = &test;
    }
};

inline void check(bool holds, const char* text, const char* file, int line) {
    if (holds) return;
    ++failures;
    std::printf("%s:%d: %s does not hold\n", file, line, text);
}

}  // namespace autocalc::check

#define CHECK(condition) \
    ::autocalc::check::check((condition), #condition, __FILE__, __LINE__)
#define TEST(name)                                                              \
    static void test_##name();                                                  \
    static ::autocalc::check::Registration register_##name(#name, test_##name); \
    static void test_##name()
