// TORCH_LOGS text as a log: messages behind any prefix become the tables and answers of a trace.
#include <algorithm>

#include "engine/capture/trace/compile_answer.h"
#include "engine/capture/trace/log_messages.h"
#include "engine/capture/trace/recompile_advice.h"
#include "tests/unit/capture_testing.h"

namespace kerf {
namespace {

using testing::TemporaryFolder;
using testing::writeFile;

struct ReadText {
  Capture capture;
  CompileLog log;

  const CompileStory& story(std::string_view id) const {
    for (std::size_t i = 0; i < log.compiles.size(); ++i)
      if (capture.details->compiles[i].id == id) return log.compiles[i];
    throw std::runtime_error("no compile id " + std::string(id));
  }
  bool answers(std::string_view part) const {
    const auto lines = compileAnswer(log, *capture.details, rankTable(log, *capture.details));
    return std::ranges::any_of(lines,
                               [&](const AnswerLine& line) { return line.text.find(part) != std::string::npos; });
  }
};

ReadText read(const std::string& text) {
  const TemporaryFolder folder;
  writeFile(folder.path() / "run.txt", text);
  auto capture = importCapture(folder.path() / "run.txt");
  if (!capture) throw std::runtime_error(capture.error().text());
  auto log = readCompileLog(*capture);
  if (!log) throw std::runtime_error(log.error().text());
  return {std::move(*capture), std::move(*log)};
}

struct LogLineText {
  std::string source, id, artifact, message;
};

const std::vector<LogLineText> lines = {
    {"symbolic_convert.py:556", "[0/0]", "graph_breaks", "Graph break in user code at /home/user/m.py:12"},
    {"symbolic_convert.py:556", "[0/0]", "graph_breaks", "Graph Break Reason: Data dependent operator"},
    {"symbolic_convert.py:556", "[0/0]", "graph_breaks",
     "  Hint: Set `torch._dynamo.config.capture_scalar_outputs = True`"},
    {"guards.py:4295", "[0/1]", "recompiles", "Recompiling function f in /home/user/m.py:10"},
    {"guards.py:4295", "[0/1]", "recompiles", "    triggered by the following guard failure(s):"},
    {"guards.py:4295", "[0/1]", "recompiles", "    - 0/0: tensor 'x' size mismatch at index 0. expected 4, actual 5"},
    {"guards.py:4295", "[0/1]", "recompiles", "    - User stack trace:"},
    {"guards.py:4295", "[0/1]", "recompiles", "    -   File \"/home/user/m.py\", line 11, in f"},
    {"convert_frame.py:844", "[0/8]", "", "torch._dynamo hit config.recompile_limit (8)"},
    {"convert_frame.py:844", "[0/8]", "", "   function: 'f' (/home/user/m.py:10)"},
    {"convert_frame.py:844", "[0/8]", "",
     "   last reason: 0/0: tensor 'x' size mismatch at index 0. expected 4, actual 12"},
};

using Prefix = std::string (*)(const LogLineText&);

std::string textOf(Prefix prefix, const std::string& before = {}, const std::string& after = {}) {
  std::string text = before;
  for (const LogLineText& line : lines) text += prefix(line) + line.message + "\n";
  return text + after;
}

std::string tag(const LogLineText& line) { return line.artifact.empty() ? "" : "[__" + line.artifact + "] "; }
std::string plainPrefix(const LogLineText& line) {
  return "V0101 10:00:01.000000 7 torch/_dynamo/" + line.source + "] " + line.id + " " + tag(line);
}

void expectTheTables(const ReadText& read, const std::string& how) {
  EXPECT_EQ(read.capture.kind, "torch_logs") << how;
  ASSERT_EQ(read.story("[0/0]").breaks.size(), 1u) << how;
  EXPECT_EQ(read.story("[0/0]").breaks[0].where, "/home/user/m.py:12") << how;
  EXPECT_EQ(read.story("[0/0]").breaks[0].reason, "Data dependent operator") << how;
  ASSERT_EQ(read.story("[0/1]").causes.size(), 1u) << how;
  EXPECT_EQ(read.story("[0/1]").causes[0].subject, "x.size(0)") << how;
  EXPECT_EQ(read.story("[0/1]").causes[0].after, "5") << how;
  ASSERT_EQ(read.story("[0/8]").failures.size(), 1u) << how;
  EXPECT_EQ(read.story("[0/8]").failures[0].type, "torch._dynamo hit config.recompile_limit (8)") << how;
  EXPECT_TRUE(read.answers("2 recompiles because `x.size(0)` changed (4 → 5, 12): [0/1] [0/8], m.py:10")) << how;
}

TEST(TorchLogs, TheirPrefixDoesNotMatter) {
  expectTheTables(read(textOf(plainPrefix)), "as printed");
  expectTheTables(read(textOf([](const LogLineText& line) { return "# " + plainPrefix(line); }, "x = 1\n")),
                  "a comment");
  expectTheTables(read(textOf([](const LogLineText& line) { return "[rank3]:" + plainPrefix(line); })), "a rank");
  expectTheTables(read(textOf(plainPrefix, "My log:\n```\n", "```\nThanks!\n")), "Markdown");
  expectTheTables(read(textOf([](const LogLineText& line) {
                    return "V0101 10:00:01.0 7 [torch/_dynamo/" + line.source + "](https://example.org/x#L1) " +
                           line.id + " " + tag(line);
                  })),
                  "links");
  expectTheTables(read(textOf([](const LogLineText& line) {
                    const std::string own = line.artifact.empty() ? "convert_frame" : "x.__" + line.artifact;
                    return "[2024-01-31 13:54:12,123] " + line.id + " torch._dynamo." + own + ": [DEBUG] ";
                  })),
                  "2.1");
}

TEST(TorchLogs, WithoutPrefixesAReasonTellsTheCompilation) {
  const ReadText log = read(
      "Recompiling function f in m.py:10\n    triggered by the following guard failure(s):\n    - 3/0: L['n'] == 7\n\n"
      "Recompiling function f in m.py:10\n    triggered by the following guard failure(s):\n    - 3/1: L['n'] == 8\n");
  EXPECT_EQ(log.story("[3/1]").causes.at(0).before, "7");
  EXPECT_EQ(log.story("[3/2]").causes.at(0).before, "8");
}

TEST(TorchLogs, GuardsAndSizesAreThoseOfATrace) {
  const std::string guard = "V1 1:0 7 torch/_dynamo/guards.py:3] [0/0] [__guards] ";
  const std::string size = "I1 1:0 7 torch/fx/experimental/symbolic_shapes.py:5] [0/1] ";
  const ReadText log =
      read(guard + "TREE_GUARD_MANAGER:\n" + guard + "+- RootGuardManager\n" + guard +
           "| +- GuardManager: source=L['xs'], accessed_by=A\n" + guard +
           "| | +- LENGTH_CHECK: len(L['xs']) == 2  # for x in xs:  # m.py:3 in f (HINT: a list)\n" + size +
           "create_symbol s0 = 4 for L['x'].size()[0] [2, int_oo] return x + 1  # m.py:5 in f "
           "(_dynamo/variables/builder.py:1 in g)\n" +
           size + "eval [guard suppressed] Ne(s0, 9) [guard added] return x  # m.py:6 in f (_x.py:1 in g)\n" + size +
           "set_replacement s0 = 4 (range_refined_to_singleton) VR[4, 4]\n");
  ASSERT_EQ(log.story("[0/0]").guards.size(), 1u);
  EXPECT_EQ(log.story("[0/0]").guards[0].code, "len(L['xs']) == 2");
  EXPECT_EQ(log.story("[0/0]").guards[0].where, "m.py:3 in f: for x in xs:");
  const auto& facts = log.story("[0/1]").symbols;
  ASSERT_EQ(facts.size(), 3u);
  EXPECT_EQ(facts[0].source, "L['x'].size()[0]");
  EXPECT_EQ(facts[0].range, "[2, int_oo]");
  EXPECT_EQ(log.log.innermost(facts[0].user), "m.py:5 in f");
  EXPECT_EQ(facts[1].subject, "Ne(s0, 9)");
  EXPECT_EQ(facts[2].kind, "specialised");
}

TEST(TorchLogs, OldGuardListsAndBreaksAreRead) {
  const std::string old = "[2024-01-31 13:54:12,123] [1/0] torch._dynamo.";
  const ReadText log = read(
      old + "symbolic_convert.__graph_breaks: [DEBUG] Graph break: call_method item from user code at:\n" + old +
      "symbolic_convert.__graph_breaks: [DEBUG]   File \"/m.py\", line 12, in f\n" + old +
      "symbolic_convert.__graph_breaks: [DEBUG]     return x.item()\n" + old + "guards.__guards: [DEBUG] GUARDS:\n" +
      old + "guards.__guards: [DEBUG] len(L['xs']) == 2  # for x in xs:  # m.py:3 in f\n");
  ASSERT_EQ(log.story("[1/0]").breaks.size(), 1u);
  EXPECT_EQ(log.story("[1/0]").breaks[0].reason, "call_method item");
  EXPECT_EQ(log.story("[1/0]").breaks[0].where, "/m.py:12 in f");
  EXPECT_EQ(log.story("[1/0]").breaks[0].code, "return x.item()");
  ASSERT_EQ(log.story("[1/0]").guards.size(), 1u);
  EXPECT_EQ(log.story("[1/0]").guards[0].where, "m.py:3 in f");
}

TEST(TorchLogs, GraphsStandBesideTheirMessages) {
  const std::string code = "V1 1:0 7 torch/_dynamo/output_graph.py:9] [0/1] [__graph_code] ";
  const std::string output = "V1 1:0 7 torch/_inductor/graph.py:9] [0/1] [__output_code] ";
  const ReadText log =
      read(textOf(plainPrefix) + code + "TRACED GRAPH\n" + code + " ===== __compiled_fn_1 =====\n" + code +
           " class GraphModule(torch.nn.Module):\n" + code + "    def forward(self, x: \"f32[4]\"):\n" + code +
           "        y: \"f32[4]\" = torch.sin(x);  x = None\n" + code + "        return (y,)\n" + output +
           "Output code: \n" + output + "# AOT ID: ['0_inference']\n" + output + "import torch\n");
  expectTheTables(log, "beside a graph");
  ASSERT_EQ(log.capture.graphs.size(), 1u);
  EXPECT_EQ(log.capture.details->compile("[0/1]")->graphs, std::vector<std::size_t>{0});
  const auto& codes = log.story("[0/1]").codes;
  const auto written = std::ranges::find(codes, true, &LoggedCode::isOutput);
  ASSERT_NE(written, codes.end());
  EXPECT_EQ(*log.capture.details->records[written->record].text(), "# AOT ID: ['0_inference']\nimport torch");
}

TEST(TorchLogs, WordsWithoutAMessageAreRefused) {
  const TemporaryFolder folder;
  writeFile(folder.path() / "a.txt", "It says Graph break: sometimes, and Recompiling function f.\n");
  EXPECT_FALSE(importCapture(folder.path() / "a.txt"));
}

TEST(TorchLogs, CompileIdsHaveOneForm) {
  EXPECT_EQ(trace::compileNumbers("[!1/0/2_1]").text(), "[!1/0/2_1]");
  EXPECT_EQ(trace::compileNumbers("0/3_1").text(), "[0/3_1]");
  EXPECT_EQ(trace::compileNumbers("[!0]").text(), "[!0]");
  for (const char* other : {"[0]", "[__guards]", "[0/]", "[]", "[1/2/3/4/5]", "[rank0]", "3"})
    EXPECT_EQ(trace::compileNumbers(other).text(), "") << other;
}

TEST(RecompileAdvice, FitsTheKindOfGuard) {
  struct Case {
    const char* subject;
    std::vector<std::string> before, after;
    const char* advice;  ///< a part of it; empty: none
  };
  const Case cases[] = {
      {"x.size(0)", {"4"}, {"5"}, "mark_dynamic(x, 0)` before the call compiles it once"},
      {"x.size(1)", {"1"}, {"5"}, "for all sizes but 0 and 1"},
      {"x.size(1)", {"4"}, {"1"}, "sizes 0 and 1 are always compiled apart"},
      {"x.stride(0)", {"6"}, {"1"}, "one memory layout"},
      {"self.step", {"0", "1"}, {}, "allow_unspec_int_on_nn_module"},
      {"scale", {"0.5"}, {}, "specialize_float"},
      {"n", {"7"}, {}, "dynamic with its second value"},
      {"len(self.layers)", {"2"}, {}, "the loop over `self.layers` is unrolled"},
      {"the identity of fn", {}, {}, "compared by identity"},
      {"name", {"'a'"}, {}, "a str is a constant"},
      {"x.dtype", {"Float"}, {"Half"}, "cast `x`"},
      {"something else", {}, {}, ""},
  };
  for (const Case& one : cases) {
    const std::string advice = trace::recompileAdvice(one.subject, one.before, one.after);
    EXPECT_NE(advice.find(one.advice), std::string::npos) << one.subject << ": " << advice;
    EXPECT_EQ(advice.empty(), *one.advice == 0) << one.subject;
  }
}

TEST(TorchLogs, AMessageThatOnlyLooksLikeAStartIsNone) {
  const TemporaryFolder folder;
  writeFile(folder.path() / "run.txt", "[__guards] x\n[__start] hi\n");
  const auto capture = importCapture(folder.path() / "run.txt");
  ASSERT_FALSE(capture);
  EXPECT_EQ(capture.error().code, ErrorCode::BadInput) << capture.error().text();
}

TEST(TorchLogs, TextBeyondTheLimitIsRefusedBeforeItIsRead) {
  const TemporaryFolder folder;
  writeFile(folder.path() / "run.txt",
            "[__recompiles] [0/1] Recompiling function f in /m.py:1\n" + std::string(4000, '\n'));
  ImportLimits limits;
  limits.fileBytes = 1000;
  const auto capture = importCapture(folder.path() / "run.txt", limits);
  ASSERT_FALSE(capture);
  EXPECT_EQ(capture.error().code, ErrorCode::TooLarge) << capture.error().text();
}

}  // namespace
}  // namespace kerf
