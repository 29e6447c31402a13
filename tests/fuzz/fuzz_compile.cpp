// libFuzzer target: any bytes as a repro.py or pasted graphs, compiled and run.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/checks.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  kerf::fuzz::checkCompile({reinterpret_cast<const char*>(data), size});
  return 0;
}
