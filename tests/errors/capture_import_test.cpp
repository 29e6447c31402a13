// Bad captures: every one is refused with file, line and reason, or imports with a note.
#include "engine/capture/repro/writer.h"
#include "engine/ir/printer.h"
#include "tests/support/cpu_time.h"
#include "tests/unit/capture_testing.h"

namespace kerf {
namespace {

using testing::reluRepro;
using testing::reproAround;
using testing::TemporaryFolder;

constexpr const char* oneTensor = "    buf0 = reader.storage(None, 64)\n    reader.tensor(buf0, (4, 4))  # x\n";

Error refused(const std::string& text, const ImportLimits& limits = {}) {
  auto capture = importRepro(text, "/tmp/case.py", limits);
  EXPECT_FALSE(capture) << text.substr(0, 2000);
  return capture ? Error{} : capture.error();
}

int lineOf(const std::string& text, const std::string& part) {
  return 1 + int(std::count(text.begin(), text.begin() + std::ptrdiff_t(text.find(part)), '\n'));
}

TEST(BadInput, EveryTruncationIsRefusedOrWhole) {
  const std::string text = reluRepro(oneTensor);
  const std::size_t whole = text.find("# To run it separately");
  for (std::size_t size = 0; size < whole; ++size) {
    const auto capture = importRepro(std::string_view(text).substr(0, size), "/tmp/case.py");
    if (capture) {
      EXPECT_GT(size, text.find("check_str=None)")) << size;
      continue;
    }
    EXPECT_EQ(capture.error().code, ErrorCode::BadInput) << size << ": " << capture.error().text();
    EXPECT_EQ(capture.error().file, "/tmp/case.py");
    EXPECT_FALSE(capture.error().message.empty());
  }
}

TEST(BadInput, NamesLineAndReason) {
  struct Case {
    std::string text;
    std::string lineHas;  ///< part of the line that the error must name
    std::string message;
  };
  const auto relu = [](const std::string& forward, const std::string& loader) {
    return reproAround("", forward, loader);
  };
  const std::string head = "    def forward(self, x):\n";
  const Case cases[] = {
      {reluRepro("    reader.tensor(buf3, (4, 4))  # x\n"), "buf3", "the storage 'buf3' is not defined"},
      {reluRepro(std::string(oneTensor) + "    reader.symint(3)  # y\n"), "reader.symint(3)",
       "forward takes 1 arguments, load_args makes 2"},
      {reluRepro("    buf0 = reader.storage('" + std::string(40, 'a') +
                 "', 60)\n    reader.tensor(buf0, (4, 4))  # x\n"),
       "(4, 4)", "the tensor 'x' needs 64 bytes, its storage has 60"},
      {relu(head + "        c = self.c\n        return (c,)\n", oneTensor), "self.c",
       "self.c is not defined in __init__"},
      {reproAround("        import os\n", head + "        return (x,)\n", oneTensor), "import os",
       "this line of __init__ is not understood"},
  };
  for (const Case& expected : cases) {
    const Error error = refused(expected.text);
    EXPECT_EQ(error.code, ErrorCode::BadInput);
    EXPECT_EQ(error.message, expected.message);
    EXPECT_EQ(error.file, "/tmp/case.py");
    EXPECT_EQ(error.line, lineOf(expected.text, expected.lineHas)) << error.text();
  }
}

TEST(BadInput, GraphErrorsNameTheLine) {
  const std::string head = "    def forward(self, x):\n";
  const std::string cases[] = {
      head + "        a = torch.ops.aten.relu.default(undefined_name)\n        return (a,)\n",
      head +
          "        a = torch.ops.aten.add.Tensor(x, b)\n        b = torch.ops.aten.relu.default(a)\n        return "
          "(b,)\n",
      head + "        a = torch.ops.aten.relu.default(a)\n        return (a,)\n",
      head + "        a = torch.ops.aten.relu.default(x\n        return (a,)\n",
      head + "        a = = x\n        return (a,)\n",
      head + "        a = torch.ops.aten.relu.default(x))\n        return (a,)\n",
  };
  for (const std::string& forward : cases) {
    const std::string text = reproAround("", forward, oneTensor);
    const Error error = refused(text);
    EXPECT_EQ(error.code, ErrorCode::BadInput) << forward;
    EXPECT_GE(error.line, lineOf(text, "def forward")) << error.text();
    EXPECT_LE(error.line, lineOf(text, "def load_args")) << error.text();
  }
}

TEST(BadInput, DuplicatePlaceholderIsRefused) {
  const Error error = refused(reproAround("", "    def forward(self, x, x):\n        return (x,)\n",
                                          std::string(oneTensor) + "    reader.symint(3)  # x\n"));
  EXPECT_EQ(error.code, ErrorCode::BadInput);
  EXPECT_GT(error.line, 0);
  EXPECT_NE(error.message.find("x"), std::string::npos);
}

TEST(BadInput, SaysThatBackwardStateHasNoRepro) {
  const Error error = refused("# Repro is not generated due to existence of BackwardState in graph input");
  EXPECT_EQ(error.message, "PyTorch wrote no repro here: an input of the graph was a BackwardState");
}

TEST(BadInput, GarbageIsRefused) {
  const TemporaryFolder folder;
  std::string garbage;
  for (int i = 0; i < 5000; ++i) garbage += char((i * 7919 + i / 3) & 0xff);
  struct Case {
    std::string content;
    std::string message;
  };
  const std::string wanted = "; a repro.py, a graph's text, a .pt2, a TORCH_TRACE log or a debug folder is expected";
  const Case cases[] = {
      {"", "the file is empty"},
      {"PK\x03\x04rest", "this is a zip archive (a checkpoint, one storage, or a damaged .pt2)" + wanted},
      {"\x7f"
       "ELF\x01",
       "this is a compiled program" + wanted},
      {"\x80\x04pickle", "this is a Python pickle, which Kerf never loads" + wanted},
      {"hello\nworld\n", "this is Python without a captured graph" + wanted},
      {"import torch\nprint(torch.ones(2))\n", "this is Python without a captured graph" + wanted},
      {"import torch\nclass Repro(torch.nn.Module):\n    def forward(self):\n        return 1\n",
       "the file has no load_args: truncated?"}};
  for (const Case& expected : cases) {
    testing::writeFile(folder.path() / "f.py", expected.content);
    const auto capture = importCapture(folder.path() / "f.py");
    ASSERT_FALSE(capture);
    EXPECT_EQ(capture.error().code, ErrorCode::BadInput);
    EXPECT_EQ(capture.error().message, expected.message);
    EXPECT_EQ(capture.error().file, (folder.path() / "f.py").string());
  }
  testing::writeFile(folder.path() / "f.txt", "hello\nworld\n");
  EXPECT_EQ(importCapture(folder.path() / "f.txt").error().message, "this is text without a graph" + wanted);
  EXPECT_EQ(refused(garbage).code, ErrorCode::BadInput);
  EXPECT_EQ(importCapture(folder.path() / "missing.py").error().code, ErrorCode::NotFound);
}

TEST(BadInput, DeepBracketsAreRefusedQuickly) {
  const std::string nested = std::string(100000, '(') + "x" + std::string(100000, ')');
  const std::string text = reproAround(
      "", "    def forward(self, x):\n        a = torch.ops.aten.relu.default(" + nested + ")\n        return (a,)\n",
      oneTensor);
  const Error error = refused(text);
  EXPECT_EQ(error.code, ErrorCode::TooLarge);
  EXPECT_EQ(error.line, lineOf(text, "((("));
}

TEST(BadInput, DeepOperatorsAndAttributesDoNotEatTheStack) {
  for (const char* part : {"-", ".a", "+1", "[0]", "**1", "()"}) {
    std::string expression = part[0] == '-' ? "" : "x";
    for (int i = 0; i < 200000; ++i) expression += part;
    if (part[0] == '-') expression += "x";
    const std::string text = reproAround(
        "",
        "    def forward(self, x):\n        a = torch.ops.aten.relu.default(" + expression + ")\n        return (a,)\n",
        oneTensor);
    (void)importRepro(text, "/tmp/case.py");  // either answer is fine, a crash is not
    (void)importRepro(reluRepro("    buf0 = reader.storage(None, " + expression + ")\n"), "/tmp/case.py");
    (void)importRepro(reproAround("        self.register_buffer('c', tensor(" + expression + "))\n",
                                  "    def forward(self, x):\n        return (x,)\n", oneTensor),
                      "/tmp/case.py");
  }
}

TEST(BadInput, AHugeLineIsRefusedInLinearTime) {
  const std::string huge(100 << 20, 'x');
  const std::string text =
      reproAround("", "    def forward(self, x):\n        a = " + huge + "\n        return (a,)\n", oneTensor);
  Error error;
  const double seconds = testing::cpuSecondsOf([&] { error = refused(text); });
  EXPECT_EQ(error.code, ErrorCode::TooLarge);
  EXPECT_GT(error.line, 1);
  EXPECT_LT(seconds, 20 * testing::slowdown);
}

TEST(BadInput, TimeIsLinearInTheFile) {
  const auto seconds = [](int nodes) {
    std::string forward = "    def forward(self, x):\n";
    for (int i = 0; i < nodes; ++i)
      forward += fmt::format("        relu_{} = torch.ops.aten.relu.default({})\n", i + 1,
                             i == 0 ? "x" : fmt::format("relu_{}", i));
    const std::string text = reproAround("", forward + fmt::format("        return (relu_{},)\n", nodes), oneTensor);
    return testing::cpuSecondsOf([&] { EXPECT_TRUE(importRepro(text, "/tmp/case.py")); });
  };
  (void)seconds(500);
  const double small = seconds(4000);
  const double large = seconds(40000);
  EXPECT_LT(large, 40 * small + 0.05 * testing::slowdown);
}

TEST(BadInput, LimitsAreObeyed) {
  ImportLimits limits;
  limits.nodes = 2;
  EXPECT_EQ(refused(reluRepro(oneTensor), limits).code, ErrorCode::TooLarge);
  limits = {};
  limits.tensorBytes = 32;
  EXPECT_EQ(refused(reluRepro(oneTensor), limits).code, ErrorCode::TooLarge);
}

TEST(ImportCapture, FindsTheOneReproOfAFolder) {
  const TemporaryFolder folder;
  const auto empty = importCapture(folder.path());
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().message, "the folder has no file that Kerf opens (repro.py, .pt2, a log, graph text)");
  testing::writeFile(folder.path() / "other.py", "print(1)\n");
  EXPECT_EQ(importCapture(folder.path()).error().message, "none of the files here is a capture: other.py");
  testing::writeFile(folder.path() / "a.py", reluRepro(oneTensor));
  ASSERT_TRUE(importCapture(folder.path()));
  testing::writeFile(folder.path() / "b.py", reluRepro(oneTensor));
  EXPECT_EQ(importCapture(folder.path()).error().message,
            "the folder holds 2 captures, name one of them: a.py (repro), b.py (repro)");
  testing::writeFile(folder.path() / "repro.py", reluRepro(oneTensor));
  EXPECT_EQ(importCapture(folder.path())->path, folder.path() / "repro.py");
}

TEST(ImportCapture, CanBeCancelled) {
  const TemporaryFolder folder;
  testing::writeFile(folder.path() / "a.py", reluRepro(oneTensor));
  const auto capture = importCapture(folder.path() / "a.py", {}, [](double) { return false; });
  ASSERT_FALSE(capture);
  EXPECT_EQ(capture.error().code, ErrorCode::Cancelled);
}

TEST(UnknownOps, ImportPrintAndRoundTrip) {
  const std::string text =
      reproAround("",
                  "    def forward(self, x):\n        strange = torch.ops.mylib.strange.default(x, 'a', alpha = 2);  x "
                  "= None\n        return (strange,)\n",
                  oneTensor);
  auto capture = importRepro(text, {});
  ASSERT_TRUE(capture) << capture.error().text();
  EXPECT_TRUE(capture->graphs[0].annotateShapes());
  EXPECT_NE(printGraphText(capture->graphs[0].module.graph)
                .find("call_function[target=torch.ops.mylib.strange.default](args = (%x, a), kwargs = {alpha: 2})"),
            std::string::npos)
      << printGraphText(capture->graphs[0].module.graph);
  EXPECT_EQ(reproText(*capture, 0), text);
}

TEST(Nodes, KnowTheirFileAndLine) {
  const std::string text = reluRepro(oneTensor);
  const auto capture = importRepro(text, "/tmp/case.py");
  ASSERT_TRUE(capture);
  const Graph& graph = capture->graphs[0].module.graph;
  const Node& relu = graph.node(*graph.find("relu"));
  EXPECT_EQ(relu.meta().sourceFile, "/tmp/case.py");
  EXPECT_EQ(relu.meta().sourceLine, lineOf(text, "relu = "));
}

}  // namespace
}  // namespace kerf
