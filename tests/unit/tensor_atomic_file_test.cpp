// AtomicFile: the old file or the whole new one, and nothing that is no file in its place.
#include <gtest/gtest.h>

#include <array>
#include <fstream>

#include <sys/stat.h>

#include "engine/support/atomic_file.h"

namespace kerf {
namespace {

namespace fs = std::filesystem;

Result<void> writeText(const fs::path& path, std::string_view text) {
  const std::array pieces{std::as_bytes(std::span(text))};
  return writeFileAtomically(path, pieces);
}

TEST(AtomicFile, ReplacesFilesOnly) {
  const fs::path folder = fs::path(::testing::TempDir()) / "kerf-atomic-file";
  fs::create_directories(folder);
  ASSERT_TRUE(writeText(folder / "a", "old"));
  ASSERT_TRUE(writeText(folder / "a", "new"));
  std::string text;
  std::ifstream(folder / "a") >> text;
  EXPECT_EQ(text, "new");
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  const auto refused = writeText(folder / "pipe", "bytes");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::Environment);
  EXPECT_TRUE(fs::is_fifo(folder / "pipe"));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace kerf
