// Every repro of the recordings imports, exports to the same text, and imports again to the same graph and inputs.
#include <algorithm>

#include "engine/capture/repro/sieve.h"
#include "engine/capture/repro/writer.h"
#include "engine/support/recordings.h"
#include "tests/support/cpu_time.h"
#include "tests/unit/capture_testing.h"

namespace kerf {
namespace {

namespace fs = std::filesystem;
using testing::TemporaryFolder;

/// Files of the corpus that are repros: those with `load_args`.
std::vector<fs::path> reproFiles(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code problem;
  for (auto entry = fs::recursive_directory_iterator(folder, problem);
       !problem && entry != fs::recursive_directory_iterator(); entry.increment(problem))
    if (entry->path().extension() == ".py" &&
        testing::readFile(entry->path()).find("\ndef load_args(reader):") != std::string::npos)
      files.push_back(entry->path());
  std::sort(files.begin(), files.end());
  return files;
}

/// The text with every save_dir replaced by '.'.
std::string withLocalStore(std::string text) {
  constexpr std::string_view key = "save_dir=";
  for (std::size_t at = text.find(key); at != std::string::npos; at = text.find(key, at + 1)) {
    const std::size_t end = text.find(',', at);
    if (text.compare(at, 13, "save_dir=None") != 0) text.replace(at, end - at, "save_dir='.'");
  }
  return text;
}

/// command= of the call itself; the comment's 'get_args' stays.
std::string withCommandRun(std::string text) {
  const std::size_t at = text.find("command='minify'");
  if (at != std::string::npos) text.replace(at, 16, "command='run'");
  return text;
}

/// Submodules whose repr is no Python (`<lambda>()`) are written so that the file can be compiled.
std::string withPythonReprs(std::string text) {
  for (const std::string repr : {"<lambda>()", "GraphModule()"})
    for (std::size_t at = text.find(" = " + repr); at != std::string::npos; at = text.find(" = " + repr, at + 1))
      text.replace(at, repr.size() + 3, " = None  # not Python: '" + repr + "'");
  return text;
}

/// Lines of the header that name folders are commented out.
std::string withoutFolders(const std::string& text) {
  std::string out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line); out += lines.eof() ? "" : "\n") {
    ReproEnvelope envelope;
    envelope.headerLines = {"import torch", line};
    out += line.starts_with("os.environ") ? sieved(envelope, GraphModule()).envelope.headerLines.back() : line;
  }
  return out;
}

std::vector<std::string> bytesOf(const ValueList& inputs) {
  std::vector<std::string> bytes;
  for (const Value& value : inputs) {
    if (!value.isTensor()) continue;
    const auto view = value.tensor().storage()->view();
    bytes.emplace_back(reinterpret_cast<const char*>(view.data()), view.size());
  }
  return bytes;
}

TEST(GoldenRepros, ExportToTheSameTextGraphAndInputs) {
  const std::vector<fs::path> files = reproFiles(recordingsFolder() / "golden");
  EXPECT_GE(files.size(), 24u);
  for (const fs::path& path : files) {
    SCOPED_TRACE(path.string());
    const TemporaryFolder folder;
    const auto capture = importCapture(path);
    ASSERT_TRUE(capture) << capture.error().text();
    EXPECT_TRUE(capture->notes.empty());
    EXPECT_EQ(capture->torchVersion, "2.11.0+cu130");
    const auto file = exportRepro(*capture, 0, folder.path() / "out");
    ASSERT_TRUE(file) << file.error().text();
    EXPECT_EQ(testing::readFile(*file), testing::readFile(path));
    const auto again = importCapture(*file);
    ASSERT_TRUE(again) << again.error().text();
    EXPECT_EQ(again->graphs[0].contentHash(), capture->graphs[0].contentHash());
    const auto inputs = capture->graphs[0].loadInputs(true, nullptr);
    const auto inputsAgain = again->graphs[0].loadInputs(true, nullptr);
    ASSERT_TRUE(inputs) << inputs.error().text();
    ASSERT_TRUE(inputsAgain) << inputsAgain.error().text();
    EXPECT_EQ(bytesOf(*inputs), bytesOf(*inputsAgain));
  }
}

TEST(VarietyRepros, ImportAndKeepTheirContent) {
  std::vector<fs::path> files;
  for (const char* part : {"variety", "anchors", "traces"})
    for (fs::path& path : reproFiles(recordingsFolder() / part)) files.push_back(std::move(path));
  EXPECT_GE(files.size(), 30u);
  for (const fs::path& path : files) {
    SCOPED_TRACE(path.string());
    const auto capture = importCapture(path);
    ASSERT_TRUE(capture) << capture.error().text();
    const TemporaryFolder folder;
    const auto file = exportRepro(*capture, 0, folder.path() / "out");
    ASSERT_TRUE(file) << file.error().text();
    EXPECT_EQ(testing::readFile(*file),
              withoutFolders(withPythonReprs(withCommandRun(withLocalStore(testing::readFile(path))))));
    const auto again = importCapture(*file);
    ASSERT_TRUE(again) << again.error().text();
    EXPECT_EQ(again->graphs[0].contentHash(), capture->graphs[0].contentHash());
  }
}

TEST(GoldenRepros, ImportIsFast) {
  const fs::path path = recordingsFolder() / "golden" / "timm_test_efficientnet" / "repro" / "train_forward.py";
  double best = 1e9;
  for (int i = 0; i < 5; ++i) best = std::min(best, testing::cpuSecondsOf([&] { EXPECT_TRUE(importCapture(path)); }));
  RecordProperty("milliseconds", std::to_string(best * 1e3));
  EXPECT_LT(best, 0.1 * testing::slowdown);
}

}  // namespace
}  // namespace kerf
