// The store and captures of any kind: original files, records, compile ids, and stores of schema 1.
#include <cmath>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "storage/database/database.h"
#include "storage/migrations/migrations.h"
#include "storage/stores/store.h"

namespace kerf {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

std::string fileText(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

class CaptureFilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder = fs::temp_directory_path() /
             fmt::format("kerf_files_{}_{}", getpid(), ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder);
    fs::create_directories(folder / "in/sub");
    path = folder / "kerf.db";
  }
  void TearDown() override { fs::remove_all(folder); }

  Store openStore() {
    auto store = Store::open(path);
    EXPECT_TRUE(store) << store.error().text();
    return std::move(*store);
  }
  std::int64_t number(const std::string& sql) {
    auto database = Database::open(path);
    return database->queryInteger(sql).value().value();
  }
  fs::path write(const std::string& name, const std::string& text) const {
    std::ofstream(folder / "in" / name, std::ios::binary) << text;
    return folder / "in" / name;
  }
  NewCapture folderCapture(bool copy) const {
    NewCapture capture{"debug_dir", (folder / "in").string(), "2.11.0", "hash", {}};
    NewGraph graph{"fx_graph_readable", "", -1, "", {}};
    graph.source = {"[0/0]", 2, "fx_graph_readable", "sub/b.py", 7};
    capture.graphs = {graph};
    capture.files = {{"in/a.log", write("a.log", std::string(300'000, 'a') + "end"), copy},
                     {"in/sub/b.py", write("sub/b.py", "b"), true}};
    RecordRow record;
    record.ordinal = 1;
    record.kind = "artifact";
    record.name = "before_joint_graph";
    record.source = {"[0/0]", 2, "artifact", "a.log", 12};
    record.form = "json";
    record.bytes = 34;
    record.graph = 1;
    capture.records = {record};
    capture.compiles = {{1, "[0/0]", 2, "failed", "Unsupported: no", "x.py:3 in forward", 1, 1, 12.5}};
    return capture;
  }

  fs::path folder, path;
};

TEST_F(CaptureFilesTest, GivesTheOriginalFilesBack) {
  auto store = openStore();
  const auto id = store.addCapture(folderCapture(true));
  ASSERT_TRUE(id) << id.error().text();
  fs::remove_all(folder / "in");
  const auto root = store.materializeFiles(*id, folder / "out");
  ASSERT_TRUE(root) << root.error().text();
  EXPECT_EQ(*root, folder / "out/in");
  EXPECT_EQ(fileText(*root / "a.log"), std::string(300'000, 'a') + "end");
  EXPECT_EQ(fileText(*root / "sub/b.py"), "b");
  EXPECT_EQ(store.materialize(store.graph(*id, 1)->id, folder / "again").value(), folder / "again/in");
  EXPECT_LT(number("SELECT sum(length(bytes)) FROM blob_parts"), 10'000) << "text is kept compressed";
}

TEST_F(CaptureFilesTest, KeepsGraphsRecordsAndCompileIds) {
  auto store = openStore();
  const auto id = store.addCapture(folderCapture(true)).value();
  const auto capture = store.capture(id).value();
  EXPECT_EQ(capture.fileCount, 2);
  EXPECT_EQ(capture.recordCount, 1);
  EXPECT_EQ(capture.compileCount, 1);
  auto graph = store.graph(id, 1).value();
  EXPECT_EQ(graph.nodes, -1);
  EXPECT_EQ(graph.source.compileId, "[0/0]");
  EXPECT_EQ(graph.source.rank, 2);
  EXPECT_EQ(graph.source.stage, "fx_graph_readable");
  EXPECT_EQ(graph.source.line, 7);
  ASSERT_TRUE(store.completeGraph(graph.id, "abc", 9));
  graph = store.graph(id, 1).value();
  EXPECT_EQ(graph.hash, "abc");
  EXPECT_EQ(graph.nodes, 9);
  const auto record = store.record(id, 1).value();
  EXPECT_EQ(record.name, "before_joint_graph");
  EXPECT_EQ(record.form, "json");
  EXPECT_EQ(record.graph, 1);
  EXPECT_EQ(record.source.line, 12);
  EXPECT_EQ(store.record(id, 2).error().code, ErrorCode::NotFound);
  const auto compile = store.compiles(id).value().front();
  EXPECT_EQ(compile.status, "failed");
  EXPECT_EQ(compile.frame, "x.py:3 in forward");
  EXPECT_EQ(compile.milliseconds, 12.5);
}

TEST_F(CaptureFilesTest, LinksAFileThatStaysWhereItIsAndNoticesChanges) {
  auto store = openStore();
  const auto id = store.addCapture(folderCapture(false)).value();
  EXPECT_EQ(fileText(store.materializeFiles(id, folder / "one").value() / "a.log").size(), 300'003u);
  EXPECT_EQ(number("SELECT count(*) FROM blobs"), 1);
  std::ofstream(folder / "in/a.log", std::ios::app) << "more";
  const auto changed = store.materializeFiles(id, folder / "two");
  ASSERT_FALSE(changed);
  EXPECT_EQ(changed.error().code, ErrorCode::BadInput);
  EXPECT_THAT(changed.error().message, HasSubstr("has changed"));
  fs::remove(folder / "in/a.log");
  const auto gone = store.materializeFiles(id, folder / "three");
  EXPECT_EQ(gone.error().code, ErrorCode::NotFound);
  EXPECT_THAT(gone.error().text(), HasSubstr("a.log"));
}

TEST_F(CaptureFilesTest, StoppingOrAMissingFileLeavesNothing) {
  auto store = openStore();
  auto capture = folderCapture(true);
  int asked = 0;
  const auto stopped = store.addCapture(capture, [&](double) { return ++asked < 2; });
  EXPECT_EQ(stopped.error().code, ErrorCode::Cancelled);
  capture.files.push_back({"in/none", folder / "in/none", true});
  EXPECT_EQ(store.addCapture(capture).error().code, ErrorCode::NotFound);
  for (const char* table : {"captures", "capture_files", "blobs", "blob_parts", "graphs", "records", "compiles"})
    EXPECT_EQ(number(fmt::format("SELECT count(*) FROM {}", table)), 0) << table;
}

TEST_F(CaptureFilesTest, RefusesNamesThatLeaveTheFolder) {
  auto store = openStore();
  for (const char* name : {"../evil", "/etc/evil", "in/../../evil", "", ".", ".."}) {
    auto capture = folderCapture(true);
    capture.files.front().name = name;
    EXPECT_EQ(store.addCapture(capture).error().code, ErrorCode::BadInput) << name;
  }
  const auto id = store.addCapture(folderCapture(true)).value();
  {
    auto database = Database::open(path).value();
    ASSERT_TRUE(database.execute("UPDATE capture_files SET name = '../evil' WHERE position = 1"));
  }
  EXPECT_EQ(store.materializeFiles(id, folder / "out").error().code, ErrorCode::BadInput);
  EXPECT_FALSE(fs::exists(folder / "evil"));
}

TEST_F(CaptureFilesTest, NoticesADamagedCompressedBlob) {
  auto store = openStore();
  const auto id = store.addCapture(folderCapture(true)).value();
  {
    auto database = Database::open(path).value();
    ASSERT_TRUE(database.execute("UPDATE blob_parts SET bytes = x'00112233'"));
  }
  EXPECT_EQ(store.materializeFiles(id, folder / "out").error().code, ErrorCode::BadInput);
}

TEST_F(CaptureFilesTest, TheSameFilesAgainReturnTheOldRow) {
  auto store = openStore();
  const auto first = store.addCapture(folderCapture(true)).value();
  EXPECT_EQ(store.addCapture(folderCapture(true)).value(), first);
  EXPECT_EQ(number("SELECT count(*) FROM capture_files"), 2);
}

TEST_F(CaptureFilesTest, MigratesAStoreOfSchemaOne) {
  {
    auto database = Database::open(path).value();
    ASSERT_TRUE(migrate(database, 1));
    const auto blob = hashText("abcd").hex(), content = hashText("# text\nab12=" + blob).hex();
    ASSERT_TRUE(database.executeScript(fmt::format(
        "INSERT INTO blobs VALUES('{0}', 4); INSERT INTO blob_parts VALUES('{0}', 0, x'61626364');"
        "INSERT INTO contents VALUES('{1}', '# text'); INSERT INTO content_blobs VALUES('{1}', 'ab12', '{0}');"
        "INSERT INTO captures VALUES(5, 'repro', '/x/repro.py', '2.10.0', 'h', '2026-01-01T00:00:00Z');"
        "INSERT INTO graphs VALUES(8, 5, 1, 'forward', 'gh', 3, '{1}');"
        "INSERT INTO runs VALUES(1, 8, 'run', 'llvm', '{{}}', 'now', 'ok', 5);",
        blob, content)));
    EXPECT_EQ(database.queryInteger("PRAGMA user_version").value(), 1);
  }
  auto store = openStore();
  EXPECT_EQ(number("PRAGMA user_version"), newestSchema());
  const auto graph = store.graph(5, 1).value();
  EXPECT_EQ(graph.id, 8);
  EXPECT_EQ(graph.nodes, 3);
  EXPECT_EQ(graph.source.rank, -1);
  EXPECT_EQ(graph.source.compileId, "");
  EXPECT_EQ(store.capture(5)->fileCount, 0);
  EXPECT_EQ(store.runs(8)->size(), 1u);
  const auto file = store.materialize(8, folder / "out");
  ASSERT_TRUE(file) << file.error().text();
  EXPECT_EQ(fileText(*file), "# text");
  EXPECT_THAT(fileText(folder / "out/storages/ab12"), HasSubstr("abcd"));
  EXPECT_TRUE(store.addCapture(folderCapture(true)));
}

}  // namespace
}  // namespace kerf
