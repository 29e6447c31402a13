// kerf share: one page that opens in Kerf again, with nothing in it that a browser runs, and without what is redacted.
#include "engine/support/digest.h"
#include "tests/support/cli_test.h"

namespace kerf::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class ShareTest : public CliTest {
 protected:
  fs::path page() const { return folder / "page.html"; }
  json shared(const std::string& what, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments{"share", what, "-o", page().string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return runJson(arguments);
  }
  std::string between(const std::string& text, const std::string& begin, const std::string& end) {
    const std::size_t at = text.find(begin);
    return at == std::string::npos
               ? ""
               : text.substr(at + begin.size(), text.find(end, at + begin.size()) - at - begin.size());
  }
  /// A log of one graph whose payload has the sum that its header announces.
  fs::path log(const std::string& payload) {
    const fs::path raw = write("raw.txt", payload);
    const auto sum = runProgram({"md5sum", raw.string()}, {}, std::chrono::seconds(20))->output.substr(0, 32);
    std::string indented = "\t";
    for (const char letter : payload) indented += letter == '\n' ? std::string("\n\t") : std::string(1, letter);
    return write("dedicated_log_torch_trace_a.log",
                 "V1128 10:00:00.000000 1 torch/_logging/structured.py:22] {\"dynamo_start\": {\"stack\": [{\"line\": "
                 "3, \"name\": "
                 "\"forward\", \"filename\": \"/home/alice/secret/model.py\", \"loc\": \"return "
                 "self.secret_rule(x)\"}]}, \"frame_id\": "
                 "0, \"frame_compile_id\": 0, \"attempt\": 0}\n"
                 "V1128 10:00:00.100000 1 torch/_functorch/aot.py:10] {\"aot_forward_graph\": {}, \"frame_id\": 0, "
                 "\"frame_compile_id\": 0, \"attempt\": 0, \"has_payload\": \"" +
                     sum + "\"}\n" + indented + "\n");
  }
  static constexpr const char* graph =
      "class GraphModule(torch.nn.Module):\n"
      "    def forward(self, primals_1: \"f32[2]\"):\n"
      "         # File: /home/alice/secret/model.py:3 in forward, code: return self.secret_rule(x)\n"
      "        relu: \"f32[2]\" = torch.ops.aten.relu.default(primals_1);  primals_1 = None\n"
      "        return (relu,)\n"
      "        ";
};

TEST_F(ShareTest, PageOpensAgainWithTheSameGraph) {
  const auto told = shared(reluRepro().string());
  EXPECT_EQ(told["graphs"], 1);
  auto before = runJson({"show", (folder / "small.py").string()}), after = runJson({"show", page().string()});
  for (auto* nodes : {&before["nodes"], &after["nodes"]})
    for (auto& node : *nodes) node.erase("source_file"), node.erase("source_line");  // of the repro in the page
  ASSERT_EQ(before["nodes"].size(), 4u);
  EXPECT_EQ(before["nodes"], after["nodes"]);
  EXPECT_EQ(run({"run", page().string()}).status, 0);
  EXPECT_EQ(runJson({"import", page().string()})["captures"].size(), 1u);
  EXPECT_EQ(run({"run", "c1/g1"}).status, 0);
}

TEST_F(ShareTest, ReductionsAndLogsTravel) {
  ASSERT_EQ(run({"minify", reluRepro().string(), "--plant", "relu=accuracy", "-o", (folder / "out").string()}).status,
            0);
  shared("m1");
  EXPECT_EQ(run({"compare", page().string(), "--plant", "relu=accuracy"}).status, 1);
  shared(log(graph).string());
  const auto shown = runJson({"ls", "graphs", page().string()});
  EXPECT_EQ(shown["graphs"].size(), 1u) << shown;
}

TEST_F(ShareTest, NothingOfTheFilesIsMarkup) {
  const std::string attack = "</script><script>alert(1)</script><img src=x onerror=alert(2)>";
  fs::create_directories(folder / "x");
  write("x/notes.md", attack + "\xE2\x80\xAE\x1b[31m");
  fs::copy_file(reluRepro(), folder / "x/<img src=x onerror=alert(3)>.py");
  shared((folder / "x").string());
  const std::string text = textOf(page());
  EXPECT_THAT(text, Not(HasSubstr("<img")));
  EXPECT_THAT(text, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(text, HasSubstr("&lt;img src=x onerror=alert(3)&gt;"));
  EXPECT_THAT(text, Not(HasSubstr("\xE2\x80\xAE")));
  EXPECT_EQ(text.find("<script>"), text.rfind("<script>"));
  EXPECT_THAT(between(text, "Content-Security-Policy\" content=\"", "\""), HasSubstr("default-src 'none'"));
  EXPECT_THAT(text, Not(HasSubstr("unsafe-inline")));
}

TEST_F(ShareTest, RedactionTakesOutPathsCodeAndWeights) {
  const auto file = log(graph);
  const auto told = shared(file.string(), {"--redact", "paths,code,weights"});
  EXPECT_FALSE(told["removed"].empty());
  const auto imported = runJson({"import", page().string()});
  EXPECT_TRUE(imported["captures"][0]["notes"].empty()) << imported;  // the payload has its sum again
  const auto out = folder / "out";
  fs::create_directories(out);
  for (const std::string record : {"c1/r1", "c1/r2"}) {
    const std::string text = run({"show", record}).output;
    for (const auto* secret : {"alice", "/home", "secret_rule"}) EXPECT_THAT(text, Not(HasSubstr(secret))) << record;
  }
  EXPECT_THAT(run({"show", "c1/r2"}).output, HasSubstr("torch.ops.aten.relu.default"));
  for (const auto* secret : {"alice", "secret_rule"}) EXPECT_THAT(textOf(page()), Not(HasSubstr(secret)));
}

TEST_F(ShareTest, WeightsGoWithTheirFiles) {
  shared(sample);
  const auto whole = fs::file_size(page());
  const auto told = shared(sample, {"--redact", "weights"});
  EXPECT_LT(fs::file_size(page()), whole);
  EXPECT_EQ(told["files"], 1);
  EXPECT_EQ(run({"show", page().string()}).status, 0);
}

TEST_F(ShareTest, NothingOfAFolderTellsWhoseItWas) {
  fs::create_directories(folder / "d/storages");
  write("d/notes.md",
        "in /home/alice and /tmp/torchinductor_alice\nc++ -I/data/bobcorp/lib/include -L/home/alice/proj/lib\n"
        "+/data/bobcorp/x.py\n{\"text\": \"a\\n/data/bobcorp/y.py\"}\n"
        "File \"/home/alice/My Project/proj/model.py\", line 3, in forward\n    return secret_rule(\n"
        "        secret_argument)\n    ~~~~~^^\nafter\n```python\nsecret_code()\n```\n");
  write("d/report.json", R"json({"minimal": {"script": "secret_script()"}, "level": "inductor"})json");
  write("d/script.py", "import torch\ndef secret_function(x): return torch.ops.aten.relu(x)\n");
  write("d/storages/ab12", std::string(64, 'Z') + "W");
  const auto bytes = std::string("\xcd\xcc\x8c\x3f\xcd\xcc\x8c\x3f", 8);
  write("d/plain", bytes);
  fs::copy_file(reluRepro(), folder / "d/repro.py");
  shared((folder / "d").string(), {"--redact", "paths,code,weights"});
  const auto out = folder / "out";
  ASSERT_EQ(run({"import", page().string()}).status, 0);
  const std::string text = textOf(page());
  const std::string zip = between(text, "zip;base64\">", "<");
  const auto raw = fromBase64(zip);
  ASSERT_TRUE(raw);
  write("page.zip", *raw);
  fs::create_directories(out);
  ASSERT_EQ(runProgram({"python3", "-m", "zipfile", "-e", (folder / "page.zip").string(), out.string()}, {},
                       std::chrono::seconds(20))
                ->status,
            0);
  std::string all;
  for (const auto& entry : fs::recursive_directory_iterator(out))
    if (entry.is_regular_file()) all += entry.path().filename().string() + "\n" + textOf(entry.path());
  for (const auto* secret : {"alice", "bobcorp", "My Project", "secret_", "ZZZZ"})
    EXPECT_THAT(all, Not(HasSubstr(secret)));
  EXPECT_THAT(all, Not(HasSubstr(bytes)));
  EXPECT_THAT(all, HasSubstr("after\n"));
  EXPECT_THAT(all, HasSubstr("\"level\": \"inductor\""));
  EXPECT_THAT(all, HasSubstr("torch.ops.aten.relu.default"));
}

TEST_F(ShareTest, DamagedPagesAndWrongCallsAreErrors) {
  shared(reluRepro().string());
  std::string text = textOf(page());
  const std::size_t at = text.find("zip;base64\">") + 40;
  EXPECT_EQ(run({"show", write("cut.html", text.substr(0, at + 100)).string()}).status, 2);
  text[at] = text[at] == 'A' ? 'B' : 'A';
  EXPECT_EQ(run({"show", write("bad.html", text).string()}).status, 2);
  EXPECT_EQ(run({"share", "c77", "-o", page().string()}).status, 2);
  EXPECT_EQ(run({"share", (folder / "absent").string(), "-o", page().string()}).status, 2);
  EXPECT_EQ(run({"share", reluRepro().string(), "-o", page().string(), "--redact", "names"}).status, 2);
}

}  // namespace
}  // namespace kerf::cli
