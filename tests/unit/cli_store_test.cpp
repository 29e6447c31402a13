// kerf store …, and what the other commands do with stores that are damaged, full or read only.
#include <sys/resource.h>

#include "engine/support/hash.h"
#include "engine/tensor/storage.h"
#include "engine/tensor/torch_zip.h"
#include "tests/support/cli_test.h"
#include "tests/support/trace_fixture.h"

namespace kerf::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class StoreCommand : public CliTest {
 protected:
  /// c1: a repro with storages, run once; c2: a log.
  void fill() {
    ASSERT_EQ(run({"import", sample}).status, 0);
    ASSERT_EQ(run({"run", "c1"}).status, 0);
    ASSERT_EQ(run({"import", write("trace.log", traceFixture).string()}).status, 0);
  }
  /// A copy of the sample whose storages are named after the SHA-1 of their bytes, as kerf export writes them.
  fs::path shaNamed() {
    const auto out = folder / "sha";
    EXPECT_EQ(run({"minify", sample, "--plant", "relu=accuracy", "-o", out.string()}).status, 0);
    return out / "repro.py";
  }
};

TEST_F(StoreCommand, DeletesRestoresAndCollects) {
  fill();
  const auto refused = run({"store", "rm", "c1"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.errors, AllOf(HasSubstr("r1 depend on it"), HasSubstr("--cascade deletes them too")));
  EXPECT_EQ(runJson({"store", "rm", "c1", "--cascade"})["deleted"], json::array({"c1", "r1"}));
  EXPECT_EQ(runJson({"ls"})["captures"].size(), 1u);
  const auto gone = run({"show", "c1"});
  EXPECT_EQ(gone.status, 2);
  EXPECT_THAT(gone.errors, HasSubstr("`kerf store restore c1` brings back what was deleted"));
  EXPECT_EQ(runJson({"store", "gc"})["purged"], 0);
  EXPECT_EQ(runJson({"store", "restore"})["restored"], json::array({"c1", "r1"}));
  EXPECT_EQ(run({"show", "c1"}).status, 0);
  EXPECT_EQ(run({"store", "rm", "c1", "--cascade", "--now"}).status, 0);
  EXPECT_EQ(run({"store", "restore"}).status, 2);
  const auto shrunk = runJson({"store", "vacuum"});
  EXPECT_LT(shrunk["bytes_after"], shrunk["bytes_before"]);
  EXPECT_EQ(run({"store", "rm", "g1"}).status, 2);
  EXPECT_EQ(run({"store", "rm", "c99"}).status, 2);
  EXPECT_EQ(run({"store"}).status, 2);
  EXPECT_THAT(run({"store", "rm", "--help"}).output, HasSubstr("kerf store rm c3 --cascade"));
}

TEST_F(StoreCommand, TellsWhatItTakesAndThatItIsWhole) {
  fill();
  const auto info = runJson({"store", "info"});
  EXPECT_EQ(info["store"], store());
  EXPECT_EQ(info["page_checksums"], true);
  EXPECT_EQ(info["kinds"]["captures"]["count"], 2);
  EXPECT_EQ(info["kinds"]["runs"]["count"], 1);
  EXPECT_GT(info["kinds"]["storages"]["bytes"], 1000);
  const auto verdict = runJson({"store", "verify"});
  EXPECT_EQ(verdict["whole"], true);
  EXPECT_EQ(verdict["damage"], json::array());
  EXPECT_GT(verdict["pages"], 10);
}

TEST_F(StoreCommand, ADamagedPageIsAnErrorWithExitTwo) {
  fill();
  auto bytes = textOf(store());
  const auto whole = run({"export", "c1", "-o", (folder / "whole").string()});
  ASSERT_EQ(whole.status, 0) << whole.errors;
  // The last pages are data; without the schema on those before them a store cannot even be opened.
  for (std::size_t page = bytes.size() / 4096 * 7 / 8 * 4096; page + 2000 < bytes.size(); page += 4096)
    bytes[page + 2000] ^= 4;
  write("kerf.db", bytes);
  const auto damaged = run({"export", "c1", "-o", (folder / "damaged").string()});
  EXPECT_EQ(damaged.status, 2);
  EXPECT_THAT(damaged.errors, HasSubstr("kerf store verify"));
  EXPECT_FALSE(fs::exists(folder / "damaged/repro.py"));
  const auto verdict = runJson({"store", "verify"}, 1);
  EXPECT_EQ(verdict["whole"], false);
  EXPECT_GE(verdict["damage"].size(), 1u);
}

TEST_F(StoreCommand, AStoreThatCannotBeOpenedForDamageIsToldSo) {
  fill();
  auto bytes = textOf(store());
  for (std::size_t page = 0; page + 2000 < bytes.size(); page += 4096) bytes[page + 2000] ^= 4;
  write("kerf.db", bytes);
  const auto damaged = run({"show", "c1"});
  EXPECT_EQ(damaged.status, 2);
  EXPECT_THAT(damaged.errors, HasSubstr("`kerf store verify` lists what is lost"));
  const auto verdict = runJson({"store", "verify"}, 1);
  EXPECT_EQ(verdict["whole"], false);
  EXPECT_EQ(verdict["store"], store());
  ASSERT_EQ(verdict["damage"].size(), 1u);
  EXPECT_THAT(verdict["damage"][0].dump(), HasSubstr("restore a copy"));
  write("kerf.db", "not a database, only text that somebody named like one, and long enough for a header of one");
  EXPECT_EQ(run({"store", "verify"}).status, 2) << "that is no damage";
}

TEST_F(StoreCommand, CarriesCapturesInOneFile) {
  fill();
  const auto file = (folder / "bug.kerf").string(), other = (folder / "other.db").string();
  const auto written = runJson({"store", "export", file, "c1"});
  EXPECT_EQ(written["captures"].size(), 1u);
  EXPECT_EQ(written["runs"], 1);
  EXPECT_EQ(runJson({"ls", "--store", file})["captures"].size(), 1u);
  const auto added = runJson({"store", "import", file, "--store", other});
  EXPECT_EQ(added["captures"][0]["to"], "c1");
  EXPECT_EQ(run({"show", "c1", "--format", "text", "--store", other}).output,
            run({"show", "c1", "--format", "text"}).output);
  EXPECT_EQ(runJson({"store", "import", file, "--store", other})["captures"][0]["known"], true);
  EXPECT_EQ(run({"store", "export", file, "r1"}).status, 2);
  EXPECT_EQ(run({"store", "import", sample}).status, 2);
}

TEST_F(StoreCommand, LinksWhereItIsToldTo) {
  std::string filler;
  for (int i = 0; i < 9; ++i) filler += std::string(1'000'000, '#') + "\n";  // more than one piece of a blob
  const auto log = write("big.log", traceFixture + filler);
  const auto linked = runJson({"import", "--link", log.string()})["captures"][0];
  EXPECT_THAT(linked["notes"].dump(), HasSubstr("only links to its files"));
  EXPECT_EQ(runJson({"store", "info"})["kinds"]["links"]["count"], 1);
  EXPECT_EQ(run({"show", "c1/g1"}).status, 0);
  const auto copied = runJson({"import", log.string()})["captures"][0];
  EXPECT_EQ(copied["id"], "c2");
  auto text = textOf(log);
  text[text.size() / 2] = ' ';
  const auto time = fs::last_write_time(log);
  write("big.log", text);
  fs::last_write_time(log, time);
  EXPECT_THAT(run({"show", "c1/g1"}).errors, HasSubstr("has changed since it was imported"));
  fs::remove(log);
  EXPECT_EQ(run({"show", "c1/g1"}).status, 2);
  EXPECT_EQ(run({"show", "c2/g1"}).status, 0) << "copied, however large it is";
}

TEST_F(StoreCommand, AResultThatCannotBeStoredIsPrintedAllTheSame) {
  ASSERT_EQ(run({"import", sample}).status, 0);
  setenv("KERF_STORE", store().c_str(), 1);
  for (const char* before : {"trap '' XFSZ;", ""}) {  // whether a file that may not grow is a signal
    const auto full = write("full.sh", fmt::format("ulimit -f 8; {} exec \"$@\"\n", before));
    const auto result = runProgram({"sh", full.string(), kerf.string(), "run", sample}, {}, test::patience);
    ASSERT_TRUE(result);
    EXPECT_EQ(result->status, 3) << result->output << result->errors;
    EXPECT_THAT(result->errors, HasSubstr("the result is not stored"));
    EXPECT_THAT(result->output, HasSubstr("out0"));
  }
  const auto missing = run({"run", sample, "--store", "/proc/none/kerf.db"});
  EXPECT_EQ(missing.status, 3);
  EXPECT_THAT(missing.output, HasSubstr("out0"));
  EXPECT_THAT(missing.errors, HasSubstr("the result is not stored"));
}

TEST_F(StoreCommand, AStorageThatLostItsBytesIsRefused) {
  const auto repro = shaNamed();
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(repro.parent_path() / "storages")) files.push_back(entry.path());
  ASSERT_FALSE(files.empty());
  for (const auto& file : files) {
    auto storage = readTorchStorage(file, -1).value();
    EXPECT_EQ(sha1Hex(storage->view()), file.filename().string());
    const auto before = textOf(file);
    storage->data()[0] ^= std::byte{1};
    ASSERT_TRUE(writeTorchStorage(file, *storage));  // a whole archive with other bytes
    for (const auto& command : {std::vector<std::string>{"run", repro.string()},
                                {"import", repro.string()},
                                {"export", repro.string(), "-o", (folder / "out").string()}}) {
      const auto damaged = run(command);
      EXPECT_EQ(damaged.status, 2) << command[0];
      EXPECT_THAT(damaged.errors, HasSubstr(file.filename().string()));
      EXPECT_THAT(damaged.errors, HasSubstr("SHA-1 that is its name"));
    }
    std::ofstream(file, std::ios::binary) << before;
  }
  EXPECT_EQ(run({"import", repro.string()}).status, 0);
}

}  // namespace
}  // namespace kerf::cli
