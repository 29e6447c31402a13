// libFuzzer target: any bytes as text with graphs, of which each is compared with the next.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/checks.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  kerf::fuzz::checkDiff({reinterpret_cast<const char*>(data), size});
  return 0;
}
