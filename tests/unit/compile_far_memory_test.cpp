// Generated code and its constants where the address space leaves no room for them beside each other.
#include <vector>

#include <gtest/gtest.h>

#include <sys/mman.h>

#include "engine/support/sanitizers.h"
#include "tests/support/compiled_fixture.h"

namespace kerf {
namespace {

using testing_support::counted;
using testing_support::expectLikeInterpreter;
using testing_support::parsed;

/// Leaves one page free above `distance` bytes that are taken, and nothing else above those: what is mapped page by
/// page ends there and beyond.
class SplitSpace {
 public:
  explicit SplitSpace(std::size_t distance) {
    m_barrier = take(distance);
    if (m_barrier == nullptr) return;
    for (std::size_t size = std::size_t{1} << 40; size >= page; size /= 2)
      while (std::byte* const at = take(size)) {
        if (at > m_barrier) continue;
        release(at, size);
        m_taken.pop_back();
        break;
      }
    release(m_barrier + distance - page, page);  // whoever maps it keeps it
    m_taken.front().second -= page;
  }
  ~SplitSpace() {
    for (const auto& [at, size] : m_taken) release(at, size);
  }
  bool isSplit() const { return m_barrier != nullptr; }

 private:
  static constexpr std::size_t page = 4096;

  std::byte* take(std::size_t size) {
    void* const at = ::mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return nullptr;
    m_taken.emplace_back(static_cast<std::byte*>(at), size);
    return static_cast<std::byte*>(at);
  }
  static void release(std::byte* at, std::size_t size) { ::munmap(at, size); }

  std::byte* m_barrier = nullptr;
  std::vector<std::pair<std::byte*, std::size_t>> m_taken;
};

TEST(FarMemory, CodeHasItsOwnConstants) {
  if (addressSanitizer || threadSanitizer) GTEST_SKIP() << "a sanitizer has the address space for itself";
  const GraphModule module = parsed(R"(def forward(self, x: "f32[13, 37]"):
    a = torch.ops.aten.gelu.default(x)
    b = torch.ops.aten.tanh.default(a)
    c = torch.ops.aten.mul.Tensor(b, 1.2345)
    d = torch.ops.aten.sigmoid.default(c)
    return (c, d)
)");
  const Tensor x = counted({13, 37});
  const SplitSpace space(std::size_t{3} << 30);
  ASSERT_TRUE(space.isSplit());
  for (int i = 0; i < 3; ++i) {
    auto graph = compileFx(module);
    ASSERT_TRUE(graph) << graph.error().text();
    expectLikeInterpreter(module, **graph, {Value(x)});
  }
}

}  // namespace
}  // namespace kerf
