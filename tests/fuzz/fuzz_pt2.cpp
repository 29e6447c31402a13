// libFuzzer target: any bytes as an archive of torch.export.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/checks.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  kerf::fuzz::checkPt2({reinterpret_cast<const char*>(data), size});
  return 0;
}
