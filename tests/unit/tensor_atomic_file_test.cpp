// AtomicFile: the old file or the whole new one, and nothing that is no file in its place.
#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <fstream>

#include <sys/resource.h>
#include <sys/stat.h>

#include "engine/support/atomic_files.h"

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

/// A limit on files stands for a full disk.
TEST(AtomicFiles, AppearTogetherOrNotAtAll) {
  const fs::path above = fs::path(::testing::TempDir()) / "kerf-atomic-files", folder = above / "deep";
  fs::remove_all(above);
  const auto write = [&](std::size_t last) -> Result<void> {
    KERF_TRY(AtomicFiles files, AtomicFiles::in(folder));
    KERF_CHECK(files.addText("a", "small"));
    KERF_CHECK(files.addText("b", std::string(last, 'x')));
    return files.commit();
  };
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{4096, before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto full = write(5000);
  const bool left = fs::exists(above);
  const auto fits = write(4000);
  const auto again = write(5000);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, ErrorCode::Environment);
  EXPECT_FALSE(left);
  ASSERT_TRUE(fits) << fits.error().text();
  ASSERT_FALSE(again);
  EXPECT_EQ(fs::file_size(folder / "b"), 4000U);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 2);
  const auto file = AtomicFiles::in(folder / "a");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::BadUsage);
  fs::remove_all(above);
}

}  // namespace
}  // namespace kerf
