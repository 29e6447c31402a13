// libFuzzer target: any bytes as a storage of torch.save and as safetensors.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/checks.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  kerf::fuzz::checkStorageFile({reinterpret_cast<const char*>(data), size});
  return 0;
}
