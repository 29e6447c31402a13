// libFuzzer target: any bytes as a repro.py.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/checks.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  kerf::fuzz::checkRepro({reinterpret_cast<const char*>(data), size});
  return 0;
}
