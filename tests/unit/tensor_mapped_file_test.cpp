#include <csignal>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>

#include <unistd.h>

#include "engine/support/sanitizers.h"
#include "engine/tensor/mapped_file.h"
#include "engine/tensor/mapping_guard.h"

namespace kerf {
namespace {

constexpr std::int64_t pages = 64, pageBytes = 4096;

class MappedFile : public ::testing::Test {
 protected:
  void SetUp() override {
    m_path = std::filesystem::temp_directory_path() / fmt::format("kerf_mapped_{}", ::getpid());
    std::ofstream(m_path, std::ios::binary) << std::string(pages * pageBytes, 'x');
  }
  void TearDown() override { std::filesystem::remove(m_path); }
  std::filesystem::path m_path;
};

std::int64_t count(const Storage& mapped, char wanted) {
  return std::ranges::count(mapped.view(), static_cast<std::byte>(wanted));
}

TEST_F(MappedFile, ReadsZerosBehindTheEndOfAFileThatWasCut) {
  const StoragePtr mapped = mapFile(m_path).value(), other = mapFile(m_path).value();
  EXPECT_EQ(mapped->data()[0], std::byte{'x'});
  EXPECT_TRUE(checkWhole(*mapped, m_path));
  std::filesystem::resize_file(m_path, 3 * pageBytes);
  EXPECT_EQ(count(*mapped, 'x'), 3 * pageBytes);
  EXPECT_EQ(count(*mapped, '\0'), (pages - 3) * pageBytes);
  const auto whole = checkWhole(*mapped, m_path);
  ASSERT_FALSE(whole);
  EXPECT_EQ(whole.error().code, ErrorCode::NotFound);
  EXPECT_NE(whole.error().text().find("became shorter"), std::string::npos);
  EXPECT_TRUE(checkWhole(*other, m_path)) << "nothing was read there";
  EXPECT_TRUE(checkWhole(*mapFile(m_path).value(), m_path)) << "a new mapping has the file as it is";
}

TEST_F(MappedFile, IsCutWhileManyThreadsRead) {
  const StoragePtr mapped = mapFile(m_path).value();
  std::filesystem::resize_file(m_path, 0);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back([&] { EXPECT_EQ(count(*mapped, '\0'), pages * pageBytes); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(checkWhole(*mapped, m_path));
}

TEST_F(MappedFile, GuardsNothingElse) {
  const auto kill = [this] {
    const StoragePtr mapped = mapFile(m_path).value();
    std::raise(SIGBUS);
  };
  const auto byTheSignal = [](int status) {  // which a sanitizer, here before us, turns into an exit
    return addressSanitizer || threadSanitizer ? WEXITSTATUS(status) != 0
                                               : WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS;
  };
  EXPECT_EXIT(kill(), byTheSignal, "");
  int local = 0;
  EXPECT_FALSE(mappingWasCut(&local));
}

}  // namespace
}  // namespace kerf
