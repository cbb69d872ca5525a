// SPDX-License-Identifier: MIT
#include "check.hpp"

#include <cstring>

namespace autocalc::check {

Test* tests = nullptr;
int failures = 0;

}  // namespace autocalc::check

// Runs all tests, or those whose names are given.
int main(int count, char** names) {
    using namespace autocalc::check;
    int runs = 0;
    for (const Test* test = tests; test != nullptr; test = test->next) {
        bool wanted = count == 1;
        for (int i = 1; i < count; ++i) {
            wanted = wanted || std::strcmp(names[i], test->name) == 0;
        }
        if (!wanted) continue;
        const int before = failures;
        test->run();
        std::printf("%s %s\n", failures == before ? "ok  " : "FAIL", test->name);
        ++runs;
    }
    std::printf("%d tests, %d failed checks\n", runs, failures);
    return failures == 0 && runs > 0 ? 0 : 1;
}
