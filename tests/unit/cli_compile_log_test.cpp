// A trace explained from the command line: kerf show CAPTURE, its tables, and the report.
#include <algorithm>
#include <set>

#include "app/workbench/logs/log_pages.h"
#include "app/workbench/protocol/compile_log.h"
#include "tests/support/cli_test.h"
#include "tests/support/trace_fixture.h"

namespace kerf::cli {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class CompileLogTest : public CliTest {
 protected:
  /// A log that has every kind of record, and names that would be HTML.
  static std::string everyKind() {
    return (fs::path(KERF_SOURCE_DIR) / "tests" / "fuzz" / "seeds" / "torch_trace" / "compile_log.log").string();
  }
  json rows(const std::string& table) { return runJson({"show", everyKind(), "--format", table})["rows"]; }
  static std::string text(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  /// Paths below the folder with what the files hold.
  static std::map<std::string, std::string> filesOf(const fs::path& place) {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(place))
      if (entry.is_regular_file()) files[fs::relative(entry.path(), place).string()] = text(entry.path());
    return files;
  }
};

TEST_F(CompileLogTest, PutsTheAnswerOnTop) {
  const auto shown = run({"show", everyKind()});
  ASSERT_EQ(shown.status, 0) << shown.errors;
  EXPECT_THAT(shown.output,
              HasSubstr("compile_log.log  torch_trace\n! 1 failure: [2/0] torch._dynamo.exc.Unsupported"));
  EXPECT_THAT(shown.output, HasSubstr("\n! 2 recompiles because `x.size(0)` changed (2, 5 → 5, 7): [0/1] [0/2]"));
  EXPECT_THAT(shown.output,
              HasSubstr("[0/1]  ok  1500 ms  /home/user/<b>model</b>.py:12 in forward\n"
                        "  * recompiled because x.size(0) changed (2 → 5); guard of [0/0]: tensor 'x' size"));
  const auto overview = runJson({"show", everyKind()});
  EXPECT_EQ(overview["answer"][0]["weight"], "problem");
  EXPECT_EQ(overview["answer"][0]["table"], "failures");
  EXPECT_EQ(overview["compiles"][4]["remarks"], json::array({"graph break at train.py:41: Data-dependent branching"}));
  EXPECT_EQ(overview["graphs"].back()["direction"], nullptr);
}

TEST_F(CompileLogTest, HasATableForEachTopic) {
  for (const auto name : workbench::logTableNames) {
    const auto object = runJson({"show", everyKind(), "--format", std::string(name)});
    EXPECT_EQ(object["table"], name);
    EXPECT_EQ(object["rows"].empty(), name == "ranks" || name == "divergences" || name.starts_with("triton")) << name;
    EXPECT_EQ(run({"show", everyKind(), "--format", std::string(name)}).status, 0) << name;
  }
}

TEST_F(CompileLogTest, TablesTellTheRecordBehindARow) {
  const auto recompiles = rows("recompiles");
  ASSERT_EQ(recompiles.size(), 4u);
  EXPECT_EQ(recompiles[0], json({{"id", "[0/1]"},
                                 {"rank", nullptr},
                                 {"changed", "x.size(0)"},
                                 {"before", "2"},
                                 {"after", "5"},
                                 {"from", "[0/0]"},
                                 {"guard", "tensor 'x' size mismatch at index 0. expected 2, actual 5"},
                                 {"where", "model.py:12 in forward: x = x.relu()"}}));
  const auto caches = rows("caches");
  EXPECT_EQ(caches[0]["result"], "miss");
  EXPECT_EQ(caches[0]["run"], 1);
  const auto record = runJson({"show", caches[0]["record_id"].get<std::string>()});
  EXPECT_EQ(record["name"], "fx_graph_cache_miss");
  const auto guards = rows("dynamo-guards");
  EXPECT_EQ(guards[0]["failed"], "[0/1] [0/2]") << "those that failed come first";
  EXPECT_THAT(run({"show", everyKind(), "--format", "breaks"}).output, HasSubstr("Hint: Use `torch.cond`."));
  const auto stacks = rows("stacks");
  EXPECT_EQ(stacks[2]["frame"], "/home/user/<b>model</b>.py:12 in forward");
  EXPECT_EQ(stacks[2]["ids"], "[0/0] [0/1] [0/2] [0/3]");
  EXPECT_EQ(stacks[2]["depth"], 1);
}

TEST_F(CompileLogTest, OtherCapturesHaveNoTables) {
  const auto repro = smallRepro(test::reluForward).string();
  const auto refused = run({"show", repro, "--format", "recompiles"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.errors, HasSubstr("is not a trace"));
  EXPECT_EQ(run({"report", repro, "-o", (folder / "report").string()}).status, 2);
  EXPECT_FALSE(fs::exists(folder / "report"));
}

TEST_F(CompileLogTest, ReportsAsPagesThatRunNothing) {
  const auto place = folder / "report";
  const auto report = runJson({"report", everyKind(), "-o", place.string()});
  EXPECT_EQ(report["report"], (place / "index.html").string());
  const auto files = filesOf(place);
  EXPECT_EQ(report["files"], files.size());
  for (const char* name : {"index.html", "records-1.html", "records.jsonl", "timeline.json", "compiles/0-0.html",
                           "compiles/1-0_1.html", "compiles/unknown.html"})
    EXPECT_TRUE(files.contains(name)) << name;
  for (const auto& [name, content] : files) {
    if (!name.ends_with(".html")) continue;
    EXPECT_THAT(content,
                AllOf(HasSubstr("default-src 'none'"), Not(HasSubstr("<script")), Not(HasSubstr("<img")),
                      Not(HasSubstr("<b>model")), Not(HasSubstr("href=\"javascript:")), Not(HasSubstr(" src="))))
        << name;
  }
  const auto& index = files.at("index.html");
  EXPECT_THAT(index, HasSubstr("<li class=\"problem\">2 recompiles because `x.size(0)` changed"));
  EXPECT_THAT(index, HasSubstr("<a href=\"compiles/0-2.html\">[0/2]</a>"));
  EXPECT_THAT(index, HasSubstr("<a href=\"https://example.org/&lt;x&gt;\">"));
  EXPECT_THAT(index, HasSubstr("a_kind_of_tomorrow")) << "kinds that Kerf does not know are still told";
  EXPECT_THAT(index, HasSubstr("<svg ")) << "the timeline";
  EXPECT_THAT(files.at("compiles/0-2.html"), HasSubstr("recompiled because x.size(0) changed (5 → 7)"));
}

TEST_F(CompileLogTest, ReportLinksLeadSomewhere) {
  const auto place = folder / "report";
  ASSERT_EQ(run({"report", everyKind(), "-o", place.string()}).status, 0);
  const auto files = filesOf(place);
  int links = 0;
  for (const auto& [name, content] : files) {
    if (!name.ends_with(".html")) continue;
    for (std::size_t at = content.find("href=\""); at != std::string::npos; at = content.find("href=\"", at + 1)) {
      const auto link = content.substr(at + 6, content.find('"', at + 6) - at - 6);
      if (link.starts_with("http")) continue;
      const auto hash = link.find('#');
      const auto target =
          hash == 0 ? name : (fs::path(name).parent_path() / link.substr(0, hash)).lexically_normal().string();
      ASSERT_TRUE(files.contains(target)) << name << " to " << link;
      if (hash != std::string::npos) {
        EXPECT_THAT(files.at(target), HasSubstr("id=\"" + link.substr(hash + 1) + "\"")) << name << " to " << link;
      }
      ++links;
    }
  }
  EXPECT_GT(links, 100);
  const auto& kernels = files.at("compiles/0-0.html");
  const auto kernel = kernels.find("cpp_fused_threshold_1");
  ASSERT_NE(kernel, std::string::npos);
  EXPECT_THAT(kernels.substr(kernel, 900),
              AllOf(HasSubstr("/home/user/model.py:12 in forward: x = x.relu()"), HasSubstr("#L4\">relu</a>"),
                    HasSubstr("#L3\">3</a>"), HasSubstr("#L6\">6</a>")));
}

TEST_F(CompileLogTest, ReportsAreTheSameEachTimeAndReplaceOnlyReports) {
  const auto place = folder / "report";
  ASSERT_EQ(run({"report", everyKind(), "-o", place.string()}).status, 0);
  const auto first = filesOf(place);
  ASSERT_EQ(run({"report", everyKind(), "-o", place.string()}).status, 0);
  EXPECT_EQ(filesOf(place), first);
  ASSERT_EQ(run({"report", write("other.log", traceFixture).string(), "-o", place.string()}).status, 0);
  EXPECT_FALSE(fs::exists(place / "compiles" / "0-3.html")) << "what the earlier report had is gone";
  fs::create_directories(folder / "mine" / "records");
  write("mine/records/keep.txt", "x");
  const auto refused = run({"report", everyKind(), "-o", (folder / "mine").string()});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.errors, HasSubstr("holds something else"));
  EXPECT_TRUE(fs::exists(folder / "mine" / "records" / "keep.txt"));
}

TEST_F(CompileLogTest, ExportsTheTimelineAndResolvedRecords) {
  const auto place = folder / "report";
  ASSERT_EQ(run({"report", everyKind(), "-o", place.string()}).status, 0);
  const auto timeline = json::parse(text(place / "timeline.json"));
  ASSERT_EQ(timeline["traceEvents"].size(), 2u);
  EXPECT_EQ(timeline["traceEvents"][0]["args"]["fn_name"], "<i>f</i>") << "as it was logged";
  const auto estimates = json::parse(text(place / "estimates.json"))["traceEvents"];
  ASSERT_EQ(estimates.size(), 3u) << "a name and two ops";
  EXPECT_EQ(estimates[2]["name"], "cpp_fused_relu_0");
  EXPECT_EQ(estimates[2]["ts"], 2000.0);
  EXPECT_EQ(estimates[2]["dur"], 500.0);
  std::istringstream lines(text(place / "records.jsonl"));
  std::vector<json> records;
  for (std::string line; std::getline(lines, line);) records.push_back(json::parse(line));
  ASSERT_GT(records.size(), 50u);
  EXPECT_EQ(records[2]["header"]["dynamo_start"]["stack"][2]["filename"], "/home/user/<b>model</b>.py");
  EXPECT_EQ(records[2]["compile_id"], "[0/0]");
  EXPECT_EQ(workbench::withFileNames(R"({"filename": 1, "a": "\"filename\": 2", "filename": 7, "x": {"filename":2}})",
                                     {{1, "a\"b"}, {2, "c"}}),
            R"({"filename": "a\"b", "a": "\"filename\": 2", "filename": 7, "x": {"filename":"c"}})");
}

TEST_F(CompileLogTest, ComparesRanks) {
  fs::create_directories(folder / "ranks");
  for (const int rank : {0, 1, 2}) {
    const std::string tail =
        fmt::format(", \"rank\": {}, \"frame_id\": 0, \"frame_compile_id\": 0, \"attempt\": 0", rank);
    const std::string head = "V1123 10:00:01.000000 77 torch/a.py:1] {";
    write(fmt::format("ranks/dedicated_log_torch_trace_rank_{}_x.log", rank),
          head + "\"dynamo_start\": {\"stack\": []}" + tail + "}\n" + head +
              fmt::format("\"artifact\": {{\"name\": \"inductor_collective_schedule\", \"encoding\": \"json\"}}{}, "
                          "\"has_payload\": \"0\"}}\n\t[{}]\n",
                          tail, rank == 1 ? "\"all_gather\", \"wait_tensor\"" : "\"all_reduce\", \"wait_tensor\"") +
              head + "\"compilation_metrics\": {\"graph_op_count\": 1, \"entire_frame_compile_time_s\": 1.0}" + tail +
              "}\n");
  }
  const auto ranks = (folder / "ranks").string();
  EXPECT_THAT(run({"show", ranks}).output, HasSubstr("! different collective schedule on rank 1: [0/0]\n"));
  const auto table = runJson({"show", ranks, "--format", "ranks"})["rows"];
  ASSERT_EQ(table.size(), 1u);
  EXPECT_EQ(table[0]["rank2"], "ok 1.0 s");
  EXPECT_EQ(table[0]["diverges"], "different collective schedule");
  const auto divergences = runJson({"show", ranks, "--format", "divergences"})["rows"];
  ASSERT_EQ(divergences.size(), 2u);
  EXPECT_EQ(divergences[0]["ranks"], "0 2");
  EXPECT_EQ(divergences[1]["has"], "all_gather wait_tensor");
  ASSERT_EQ(run({"report", ranks, "-o", (folder / "report").string()}).status, 0);
  EXPECT_TRUE(fs::exists(folder / "report" / "compiles" / "rank1.0-0.html"));
}

TEST_F(CompileLogTest, ReportsAThousandCompileIds) {
  std::string log;
  const std::string head = "V1123 10:00:01.000000 77 torch/a.py:1] {";
  for (int i = 0; i < 1000; ++i) {
    const std::string tail = fmt::format(", \"frame_id\": {}, \"frame_compile_id\": {}, \"attempt\": 0", i / 8, i % 8);
    log += head +
           fmt::format("\"dynamo_start\": {{\"stack\": [{{\"line\": {}, \"name\": \"f\", \"filename\": 0}}]}}{}}}\n",
                       i / 8, tail);
    if (i % 8 > 0)
      log +=
          head +
          fmt::format(
              "\"artifact\": {{\"name\": \"recompile_reasons\", \"encoding\": \"json\"}}{}, \"has_payload\": \"0\"}}\n"
              "\t[\"{}/{}: tensor 'x' size mismatch at index 0. expected {}, actual {}\"]\n",
              tail, i / 8, i % 8 - 1, i, i + 1);
    log += head + "\"compilation_metrics\": {\"graph_op_count\": 1}" + tail + "}\n";
  }
  const auto file = write("many.log", log).string();
  EXPECT_THAT(run({"show", file}).output, HasSubstr("! 875 recompiles because `x.size(0)` changed"));
  const auto report = runJson({"report", file, "-o", (folder / "report").string()});
  EXPECT_GE(report["files"], 1004);
  EXPECT_LT(fs::file_size(folder / "report" / "index.html"), 2u << 20);
}

}  // namespace
}  // namespace kerf::cli
