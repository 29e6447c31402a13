// require: how a broken promise ends a run.
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/checks.h"

namespace kerf::fuzz {

void require(bool promise, const char* what, const std::string& detail) {
  if (promise) return;
  std::fprintf(stderr, "%s\n%s\n", what, detail.c_str());
  std::abort();
}

}  // namespace kerf::fuzz
