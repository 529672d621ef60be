// A C++ exception that nobody catches, for mock.c.
//
// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

extern "C" void mock_throw(void) {
    throw std::runtime_error("the mock is out of paper");
}
