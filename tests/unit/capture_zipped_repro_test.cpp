// A repro and its storages in one zip opens as the folder does; archives that lie are refused.
#include "engine/capture/common/capture.h"
#include "engine/tensor/torch_zip.h"
#include "engine/tensor/zip_writer.h"
#include "tests/unit/capture_testing.h"

namespace kerf {
namespace {

namespace fs = std::filesystem;

constexpr const char* hash = "0123456789abcdef0123456789abcdef01234567";

std::string script() {
  return testing::reluRepro(
      fmt::format("    buf0 = reader.storage('{}', 16)\n    reader.tensor(buf0, (2, 2), is_leaf=True)  # x\n", hash));
}

/// A content-store file that holds 1, 2, 3, 4.
std::string storageFile(const fs::path& folder) {
  Tensor values = Tensor::zeros(DType::Float32, {4}).value();
  for (int i = 0; i < 4; ++i) values.data<float>()[i] = float(i + 1);
  EXPECT_TRUE(writeTorchStorage(folder / "storage", *values.storage()));
  return testing::readFile(folder / "storage");
}

using Members = std::vector<std::pair<std::string, std::string>>;

std::string zipOf(const Members& members) {
  std::string archive;
  ZipWriter writer([&](std::span<const std::byte> bytes) -> Result<void> {
    archive.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return {};
  });
  for (const auto& [name, bytes] : members) EXPECT_TRUE(writer.add(name, std::string_view(bytes)));
  EXPECT_TRUE(writer.finish());
  return archive;
}

Result<Capture> importBytes(const fs::path& folder, const std::string& bytes, const ImportLimits& limits = {}) {
  testing::writeFile(folder / "case.zip", bytes);
  return importCapture(folder / "case.zip", limits);
}

TEST(ZippedRepro, OpensWithItsStorages) {
  const testing::TemporaryFolder folder;
  const std::string storage = storageFile(folder.path());
  auto capture = importBytes(folder.path(),
                             zipOf({{"small/repro.py", script()}, {fmt::format("small/storages/{}", hash), storage}}));
  ASSERT_TRUE(capture) << capture.error().text();
  EXPECT_EQ(capture->kind, "repro");
  std::vector<std::string> notes;
  const auto inputs = capture->graphs.at(0).loadInputs(true, &notes);
  ASSERT_TRUE(inputs) << inputs.error().text();
  const Tensor& x = inputs->at(0).tensor();
  EXPECT_EQ(x.itemAsDouble(0), 1);
  EXPECT_EQ(x.itemAsDouble(3), 4);
  const auto plain = importRepro(script(), {});
  ASSERT_TRUE(plain);
  EXPECT_EQ(capture->graphs[0].contentHash(), plain->graphs[0].contentHash());
}

TEST(ZippedRepro, MissingStoragesStayMissing) {
  const testing::TemporaryFolder folder;
  auto capture = importBytes(folder.path(), zipOf({{"repro.py", script()}}));
  ASSERT_TRUE(capture) << capture.error().text();
  EXPECT_FALSE(capture->graphs.at(0).loadInputs(true, nullptr));
  EXPECT_TRUE(capture->graphs.at(0).loadInputs(false, nullptr));
}

TEST(ZippedRepro, RefusesWhatIsAmbiguousOrLies) {
  const testing::TemporaryFolder folder;
  const std::string member = fmt::format("storages/{}", hash);
  const auto refused = [&](const Members& members, const char* why, const ImportLimits& limits = {}) {
    const auto capture = importBytes(folder.path(), zipOf(members), limits);
    ASSERT_FALSE(capture) << why;
    EXPECT_EQ(exitCode(capture.error().code), 2);
    EXPECT_NE(capture.error().text().find(why), std::string::npos) << capture.error().text();
  };
  refused({{"a.py", script()}, {"b.py", script()}}, "2 Python files");
  refused({{"storages/x", "y"}}, "0 Python files");
  refused({{"repro.py", script()}, {member, "no storage"}}, "storages");
  refused({{"repro.py", script()}, {member, std::string(3 << 20, 'x')}}, "storages");
  const std::string whole = zipOf({{"repro.py", script()}});
  EXPECT_FALSE(importBytes(folder.path(), whole.substr(0, whole.size() - 20)));
}

}  // namespace
}  // namespace kerf
