// libFuzzer target: any bytes as the files of a debug folder (scheduler IR, provenance JSON) and as a drawn graph.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/checks.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  kerf::fuzz::checkDebugFiles({reinterpret_cast<const char*>(data), size});
  return 0;
}
