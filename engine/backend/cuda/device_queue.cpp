#include "engine/backend/cuda/device_queue.h"

#include <limits>

#include <fmt/format.h>

namespace kerf::inline backend {

/// What a kernel may use without asking, and how more is asked for (CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES).
static constexpr int usualSharedBytes = 48 << 10, sharedBytesAttribute = 8;

std::vector<void*> KernelArguments::pointers() {
  std::vector<void*> result;
  for (const std::size_t place : m_places) result.push_back(m_bytes.data() + place);
  return result;
}

/// FNV-1a.
void DeviceQueue::note(const void* bytes, std::size_t count) {
  const auto* at = static_cast<const unsigned char*>(bytes);
  for (std::size_t i = 0; i < count; ++i) m_fingerprint = (m_fingerprint ^ at[i]) * 0x100000001b3u;
}

Result<void> DeviceQueue::launch(void* function, std::int64_t blocks, int threads, KernelArguments& arguments,
                                 std::string_view name, int shared) {
  if (blocks <= 0) return {};
  if (blocks > std::numeric_limits<std::int32_t>::max())
    return fail(ErrorCode::Internal, "launching {} with {} blocks", name, blocks);
  note(&function, sizeof(function));
  note(&blocks, sizeof(blocks));
  note(arguments.bytes().data(), arguments.bytes().size());
  if (m_replays) return {};
  const std::string doing = fmt::format("launching {}", name);
  if (shared > usualSharedBytes)
    KERF_CHECK(m_driver.check(m_driver.functions().setAttribute(function, sharedBytesAttribute, shared), doing));
  std::vector<void*> pointers = arguments.pointers();
  return m_driver.check(m_driver.functions().launch(function, unsigned(blocks), 1, 1, unsigned(threads), 1, 1,
                                                    unsigned(shared), m_driver.stream(), pointers.data(), nullptr),
                        doing);
}

Result<void> DeviceQueue::copy(DeviceAddress to, DeviceAddress from, std::int64_t bytes) {
  if (bytes == 0) return {};
  return call({to, from}, [&] {
    return m_driver.check(m_driver.functions().copy(to, from, std::size_t(bytes), m_driver.stream()),
                          "copying on the CUDA device");
  });
}

Result<void> DeviceQueue::clear(DeviceAddress place, std::int64_t bytes) {
  if (bytes == 0) return {};
  return call({place}, [&] {
    return m_driver.check(m_driver.functions().clear(place, 0, std::size_t(bytes), m_driver.stream()),
                          "clearing memory of the CUDA device");
  });
}

}  // namespace kerf::inline backend
