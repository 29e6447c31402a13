// Hostile captures of every form: what is exported of them passes the auditor and Python's own parser, and runs
// nothing.
#include <algorithm>
#include <cstring>
#include <map>

#include "engine/capture/audit/auditor.h"
#include "engine/capture/common/capture.h"
#include "engine/capture/pt2/writer.h"
#include "engine/capture/repro/export_text.h"
#include "engine/ir/printer.h"
#include "engine/tensor/torch_zip.h"
#include "tests/unit/capture_hostile.h"

namespace kerf {
namespace {

namespace fs = std::filesystem;
using testing::HostileCapture;
using testing::TemporaryFolder;

struct Outcome {
  int captures = 0, imported = 0, written = 0, refused = 0;
};

/// Exports everything of a capture into a folder and counts.
class Exporter {
 public:
  explicit Exporter(const fs::path& folder) : m_folder(folder) {}

  void all(const Capture& capture, Outcome& outcome) {
    for (std::size_t i = 0; i < capture.graphs.size(); ++i) {
      Capture loaded = capture;
      if (!loaded.graphs[i].ensureLoaded()) continue;
      one(loaded, i, outcome);
    }
  }
  const std::vector<std::string>& files() const { return m_files; }

 private:
  void one(const Capture& capture, std::size_t index, Outcome& outcome) {
    const fs::path place = m_folder / std::to_string(m_number++);
    const auto repro = exportRepro(capture, index, place);
    count(repro ? Result<void>() : fail(repro.error()), place / "repro.py", outcome);
    if (repro) {
      EXPECT_TRUE(auditExport(testing::readFile(*repro))) << testing::readFile(*repro);
    }
    fs::create_directories(place);
    PythonCodeOptions annotated;
    annotated.annotateValues = annotated.includeStride = annotated.includeDevice = true;
    text(
        capture, index, "code", [](const GraphModule& module) { return printPythonCode(module); }, place / "g.code",
        outcome);
    text(
        capture, index, "readable", [&](const GraphModule& module) { return printReadable(module, annotated); },
        place / "g.txt", outcome);
    text(
        capture, index, "text", [](const GraphModule& module) { return printGraphText(module.graph) + "\n"; },
        place / "g.graph", outcome);
    const auto clean = exportableGraph(capture, index, "pt2");
    count(clean ? exportPt2(*clean, place / "g.pt2") : fail(clean.error()), place / "g.pt2", outcome);
  }

  template <class Print>
  void text(const Capture& capture, std::size_t index, std::string_view form, Print print, const fs::path& file,
            Outcome& outcome) {
    const auto clean = exportableGraph(capture, index, form);
    if (!clean) return count(fail(clean.error()), file, outcome);
    const auto audited = auditedForm(form, print(clean->module), clean->module, capture);
    if (audited) testing::writeFile(file, *audited);
    count(audited ? Result<void>() : fail(audited.error()), file, outcome);
  }

  /// A refusal is the capture's fault, never Kerf's own.
  void count(const Result<void>& done, const fs::path& file, Outcome& outcome) {
    if (!done) {
      ++outcome.refused;
      EXPECT_EQ(exitCode(done.error().code), 2) << file << ": " << done.error().text();
      return;
    }
    ++outcome.written;
    if (file.extension() != ".graph") m_files.push_back(file.string());
  }

  fs::path m_folder;
  int m_number = 0;
  std::vector<std::string> m_files;
};

bool hasPython() { return std::system("python3 -c 'import ast' >/dev/null 2>&1") == 0; }  // NOLINT(cert-env33-c)

/// The driver's complaints, empty if there are none.
std::string complaints(const std::vector<std::string>& files, const fs::path& folder) {
  std::string list;
  for (const std::string& file : files) list += file + "\n";
  testing::writeFile(folder / "files", list);
  const std::string driver = std::string(KERF_SOURCE_DIR) + "/tests/unit/hostile/run_exports.py";
  const std::string command =
      fmt::format("xargs -a {0}/files python3 -I -B {1} >{0}/said 2>&1", folder.string(), driver);
  const int status = std::system(command.c_str());  // NOLINT(cert-env33-c)
  const std::string said = testing::readFile(folder / "said");
  return status == 0 ? std::string() : said + fmt::format("(status {})", status);
}

TEST(HostileCaptures, NothingThatIsExportedRunsAnything) {
  const TemporaryFolder folder;
  const fs::path mark = folder.path() / "MARK";
  const auto captures = testing::hostileCaptures(mark.string(), fs::path(KERF_SOURCE_DIR) / "tests/fuzz/seeds/pt2");
  EXPECT_GE(captures.size(), 60u);
  Exporter exporter(folder.path() / "out");
  std::map<std::string, Outcome> outcomes;
  int number = 0;
  for (const HostileCapture& hostile : captures) {
    const fs::path place = folder.path() / fmt::format("in{}", number++);
    for (const auto& [name, text] : hostile.files) {
      fs::create_directories((place / name).parent_path());
      testing::writeFile(place / name, text);
    }
    SCOPED_TRACE(hostile.files.front().second.substr(0, 600));
    Outcome& outcome = outcomes[hostile.name];
    ++outcome.captures;
    const auto capture = importCapture(hostile.files.size() == 1 ? place / hostile.files.front().first : place);
    if (!capture) {
      EXPECT_EQ(exitCode(capture.error().code), 2) << capture.error().text();
      continue;
    }
    ++outcome.imported;
    exporter.all(*capture, outcome);
  }
  for (const auto& [name, outcome] : outcomes) {
    RecordProperty(name, fmt::format("{} captures, {} imported, {} written, {} refused", outcome.captures,
                                     outcome.imported, outcome.written, outcome.refused));
    EXPECT_GT(outcome.imported, 0) << name;
    EXPECT_GT(outcome.written, 0) << name;
  }
  EXPECT_FALSE(fs::exists(mark));
  if (!hasPython()) GTEST_SKIP() << "python3 is missing: exports were not run";
  EXPECT_EQ(complaints(exporter.files(), folder.path()), "");
  EXPECT_FALSE(fs::exists(mark)) << "a payload ran";
}

/// Beside its bytes a storage's file has a pickle, which torch.load may run.
TEST(HostileCaptures, StoragesAreWrittenAnew) {
  const TemporaryFolder folder;
  const std::string hash(40, 'a'), mark = (folder.path() / "MARK").string();
  const auto bytes = Storage::allocate(16);
  ASSERT_TRUE(bytes);
  std::memset((*bytes)->data(), 7, 16);
  const fs::path source = folder.path() / "in/storages" / hash;
  fs::create_directories(source.parent_path());
  ASSERT_TRUE(writeTorchStorage(source, **bytes));
  testing::writeFile(source,
                     testing::changedArchive(testing::readFile(source), "data.pkl", {}, testing::hostilePickle(mark)));
  testing::writeFile(folder.path() / "in/repro.py", testing::reluRepro("    buf0 = reader.storage('" + hash +
                                                                       "', 16)\n    reader.tensor(buf0, (4,))  # x\n"));
  const auto capture = importCapture(folder.path() / "in/repro.py");
  ASSERT_TRUE(capture) << capture.error().text();
  const auto file = exportRepro(*capture, 0, folder.path() / "out");
  ASSERT_TRUE(file) << file.error().text();
  const fs::path target = folder.path() / "out/storages" / hash;
  EXPECT_NE(testing::readFile(source).find("system"), std::string::npos);
  EXPECT_EQ(testing::readFile(target).find("system"), std::string::npos);
  const auto read = readTorchStorage(target, 16);
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(std::memcmp((*read)->data(), (*bytes)->data(), 16), 0);

  // Also over an older file, and over the capture's own; what is harmless stays.
  const std::string hostile = testing::readFile(source);
  testing::writeFile(target, hostile);
  ASSERT_TRUE(exportRepro(*capture, 0, folder.path() / "out"));
  EXPECT_EQ(testing::readFile(target).find("system"), std::string::npos);
  const auto before = fs::last_write_time(target);
  ASSERT_TRUE(exportRepro(*capture, 0, folder.path() / "out"));
  EXPECT_EQ(fs::last_write_time(target), before);
  ExportOptions options;
  options.fileName = "again.py";
  ASSERT_TRUE(exportRepro(*capture, 0, folder.path() / "in", options));
  EXPECT_EQ(testing::readFile(source).find("system"), std::string::npos);
  EXPECT_TRUE(readTorchStorage(source, 16));
}

/// The stand-in for torch does show a payload: otherwise the test above would show nothing.
TEST(HostileCaptures, TheStandInForTorchShowsPayloads) {
  if (!hasPython()) GTEST_SKIP() << "python3 is missing";
  const TemporaryFolder folder;
  std::vector<std::string> files, marks;
  const auto add = [&](auto payloadsFor) {
    for (std::size_t i = 0; i < payloadsFor(std::string()).size(); ++i) {
      const std::size_t number = marks.size();
      marks.push_back((folder.path() / fmt::format("MARK{}", number)).string());
      files.push_back((folder.path() / fmt::format("evil{}.py", number)).string());
      testing::writeFile(files.back(),
                         "import torch\nimport builtins\nimport operator\nx = torch.Stub()\nself = "
                         "torch.Stub()\nself.m = torch\n" +
                             payloadsFor(marks.back())[i] + "\n");
    }
  };
  add(testing::hostileExpressions);
  const std::size_t expressions = marks.size();
  add(testing::hostileBodies);
  const std::string said = complaints(files, folder.path());
  for (const std::string& file : files) EXPECT_NE(said.find(file), std::string::npos) << testing::readFile(file);
  const auto shown = [](const std::string& mark) { return fs::exists(mark); };
  EXPECT_GE(std::count_if(marks.begin(), marks.begin() + std::ptrdiff_t(expressions), shown), 25);
  EXPECT_GE(std::count_if(marks.begin() + std::ptrdiff_t(expressions), marks.end(), shown), 25);
}

}  // namespace
}  // namespace kerf
