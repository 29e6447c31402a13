// What an export may hold: hostile captures, each with a payload in one of its texts, and the auditor by itself.
#include "engine/capture/audit/auditor.h"

#include "engine/capture/repro/export_text.h"
#include "engine/capture/repro/writer.h"
#include "tests/unit/capture_testing.h"

namespace kerf {
namespace {

using testing::reluRepro;
using testing::reproAround;
using testing::TemporaryFolder;

const std::string payload = "__import__('os').system('touch pwned')";
const std::string scalar = "    buf0 = reader.storage(None, 16)\n    reader.tensor(buf0, (4,))  # x\n";

std::string graphAround(const std::string& line) {
  return reproAround("", "    def forward(self, x):\n        " + line + "\n        return (a,)\n", scalar);
}

std::string initAround(const std::string& line) {
  return reproAround("        " + line + "\n",
                     "    def forward(self, x):\n        a = torch.ops.aten.relu.default(x);  x = None\n"
                     "        return (a,)\n",
                     scalar);
}

std::string headed(const std::string& lines) { return lines + reluRepro(scalar); }

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  return at == std::string::npos ? text : text.replace(at, what.size(), by);
}

/// Line by line, without comments (those behind modules too): what Python would run.
std::string codeOf(const std::string& text) {
  std::string code;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line = line.substr(0, line.find("  # not Python"));
        line.find_first_not_of(' ') != std::string::npos && line[line.find_first_not_of(' ')] != '#')
      code += line + "\n";
  return code;
}

std::vector<std::string> hostileRepros() {
  std::vector<std::string> out;
  for (const char* call : {"torch.os.system('x')",
                           "exec('x')",
                           "eval('x')",
                           "__import__('os')",
                           "open('x', 'w')",
                           "torch.load('x', weights_only = False)",
                           "torch.ops.load_library('x')",
                           "torch.hub.load('x', 'y')",
                           "torch.from_file('x', shared = True, size = 4)",
                           "torch.ops.aten.from_file.default('x')",
                           "torch.ops.import_module('os')",
                           "torch.jit.load('x')",
                           "torch.package.PackageImporter('x')",
                           "torch.save(x, 'y')",
                           "torch.utils.cpp_extension.load('n', 's')",
                           "torch.serialization.load('x')",
                           "torch.classes.load_library('x')",
                           "torch.sys.exit(1)",
                           "torch._C.__class__('x')",
                           "torch.ops.aten.relu.default.__class__(x)",
                           "operator.methodcaller('x')",
                           "operator.attrgetter('x')",
                           "builtins.exec('x')",
                           "compile('x', 'y', 'exec')",
                           "setattr(x, 'a', 1)",
                           "getattr(torch, 'load')('x')",
                           "getattr(x, '__class__')",
                           "globals()['exec']('x')",
                           "torch.distributed.init_process_group('x')",
                           "torch.testing.os.system('x')",
                           "torch.nn.functional.importlib.import_module('os')",
                           "x.__reduce_ex__(2)",
                           "x.apply_(exec)",
                           "x.register_hook(exec)",
                           "x.share_memory_()",
                           "x.numpy()",
                           "torch.ops.higher_order.map_impl(torch.os.system, 'x')",
                           "torch.ops.aten.relu.default(torch.os.system('x'))"})
    out.push_back(graphAround("a = " + std::string(call)));
  for (const std::string& type : {payload, std::string("(lambda: 1)()"), std::string("torch.os.system('x')"),
                                  std::string("torch.Tensor if 1 else exec('x')")})
    out.push_back(replaced(graphAround("a = torch.ops.aten.relu.default(x)"), "self, x)", "self, x : " + type + ")"));
  for (const std::string& line :
       {std::string("import os; os.system('touch pwned')"), std::string("import subprocess"), payload,
        std::string("os.environ['CXX'] = '/tmp/evil'"), std::string("os.environ['LD_PRELOAD'] = 'x'"),
        std::string("os.environ['TORCHINDUCTOR_CACHE_DIR'] = './evil'"),
        std::string("torch._inductor.config.cpp.cxx = ('evil',)"), std::string("torch._inductor.config.x = ") + payload,
        std::string("from os import system as relu"), std::string("# coding: unicode_escape"),
        std::string("torch.relu = exec"), std::string("@exec\nclass A: pass"), std::string("def f():\n    pass"),
        std::string("x = [i for i in (1,)]"), std::string("isolate_fails_code_str = 'x'")})
    out.push_back(headed(line + "\n"));
  for (const std::string& line :
       {"self.m = " + payload, std::string("self.m = torch.load('x')"), std::string("self.m = exec('x')"),
        std::string("self.m = Evil()"), "self.register_buffer('b', tensor(" + payload + "))",
        "self.m = Linear(2, " + payload + ")", std::string("self.m = (lambda: 1)()")})
    out.push_back(initAround(line));
  for (const std::string& line :
       {"reader.const(" + payload + ")  # x", "reader.opaque(" + payload + ")  # x",
        "reader.generator(" + payload + ")  # x", "reader.unsupported(" + payload + ")  # x",
        std::string("reader.symint(3)  # x\rimport os"), "reader.symint(3, expr='" + std::string("exec(1)") + "')  # x",
        "buf0 = reader.storage(None, 16)\n    reader.tensor(buf0, (4,), conj=" + payload + ")  # x"})
    out.push_back(reluRepro("    " + line + "\n"));
  out.push_back(replaced(reluRepro(scalar), "accuracy=False", "accuracy=" + payload));
  out.push_back(replaced(reluRepro(scalar), "mod = Repro()", "mod = Repro(); " + payload));
  out.push_back(replaced(reluRepro(scalar), "        # mod(*args)", "        " + payload));
  return out;
}

TEST(Auditor, NoPayloadReachesAnExport) {
  const TemporaryFolder folder;
  int number = 0, imported = 0, written = 0;
  const std::vector<std::string> captures = hostileRepros();
  EXPECT_GE(captures.size(), 60u);
  for (const std::string& text : captures) {
    SCOPED_TRACE(text);
    const auto capture = importRepro(text, {});
    if (!capture) continue;
    ++imported;
    const auto file = exportRepro(*capture, 0, folder.path() / std::to_string(number++));
    if (!file) {
      EXPECT_EQ(exitCode(file.error().code), 2) << file.error().text();
      continue;
    }
    ++written;
    const std::string exported = testing::readFile(*file);
    EXPECT_TRUE(auditExport(exported)) << exported;
    const std::string code = codeOf(exported);
    for (const char* word : {"system", "exec(", "eval(", "__import__", "load_library", "torch.load", "torch.hub",
                             "lambda", "subprocess", "evil", "LD_PRELOAD", "open("})
      EXPECT_EQ(code.find(word), std::string::npos) << word;
  }
  EXPECT_GE(imported, 50);
  EXPECT_GE(written, 15);
}

TEST(Auditor, NamesNodeAndTarget) {
  const TemporaryFolder folder;
  const auto capture = importRepro(graphAround("a = torch.load('x')"), {});
  ASSERT_TRUE(capture) << capture.error().text();
  const auto file = exportRepro(*capture, 0, folder.path() / "out");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::BadInput);
  EXPECT_NE(file.error().message.find("'a' calls 'torch.load'"), std::string::npos) << file.error().text();
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "out"));
}

TEST(Auditor, PlainCapturesStayAsTheyAre) {
  const TemporaryFolder folder;
  const auto capture = importRepro(reluRepro(scalar), {});
  ASSERT_TRUE(capture);
  const auto file = exportRepro(*capture, 0, folder.path() / "out");
  ASSERT_TRUE(file) << file.error().text();
  EXPECT_EQ(testing::readFile(*file), reluRepro(scalar));
}

TEST(Auditor, RefusesWhatPythonReadsInAnotherWay) {
  for (const char* text :
       {"# a\rimport os\n", "x = 1\f\n", "\xEF\xBB\xBFx = 1\n", "# coding=utf-7\nx = 1\n", "x = f'{1}'\n",
        "x = 1 \\\n+ 2\n", "if 1:\n\tx = 1\n", "x = (1\n", "# \xE2\x80\xAE\n", "\xFF\n", "x = 'a\n", "x := 1\n",
        "import os, sys\n", "print('x')\n", "class A(object):\n    pass\n"})
    EXPECT_FALSE(auditExport(text)) << text;
  for (const char* text : {"", "x = 1\n", "import torch\n", "torch._inductor.config.a.b = (1, True)\n",
                           "s0 = -8  # VR[2, 9]\n", "os.environ['TORCH_LOGS'] = 'dynamo'\n"})
    EXPECT_TRUE(auditExport(text)) << text;
}

TEST(Auditor, KnowsWhatComputes) {
  for (const char* target :
       {"torch.ops.aten.add.Tensor", "torch.ops.mylib.f.default", "torch.nn.functional.relu", "torch.relu",
        "torch._C._nn.linear", "operator.getitem", "math.floor", "torch.ops.aten.random.from"})
    EXPECT_TRUE(isAllowedFunction(target)) << target;
  for (const char* target : {"torch.load", "torch.ops.load_library", "torch.os.system", "exec", "eval", "builtins.exec",
                             "torch.hub.load", "torch.save", "torch.ops.aten.__class__", "operator.attrgetter",
                             "torch.ops.aten.from_file.default", "torch.compile", "builtins.open", "globals"})
    EXPECT_FALSE(isAllowedFunction(target)) << target;
}

TEST(Auditor, NamesTheAttribute) {
  const TemporaryFolder folder;
  auto capture = importRepro(graphAround("b = x.weird;  a = b + 1"), {});
  ASSERT_TRUE(capture) << capture.error().text();
  const auto file = exportRepro(*capture, 0, folder.path() / "out");
  ASSERT_FALSE(file);
  EXPECT_NE(file.error().message.find("'b' reads the attribute 'weird'"), std::string::npos) << file.error().text();
  EXPECT_EQ(file.error().hint.advice, Advice::AllowCall);
  const auto allowed = parseExtraCalls({"weird"});
  ASSERT_TRUE(allowed);
  capture->allowedCalls = *allowed;
  const auto text = exportText(*capture, 0, {});
  ASSERT_TRUE(text) << text.error().text();
  EXPECT_TRUE(text->starts_with("# WARNING (call allowed by the user): this calls weird")) << *text;
}

/// Classes of nested graphs are printed from the graphs, the same each time; others do not come along.
TEST(Auditor, NestedClassesArePrintedAnew) {
  const TemporaryFolder folder;
  const std::string nested =
      "class body_0(torch.nn.Module):\n    def __init__(self) -> None:\n        "
      "super().__init__()\n\n\n\n    def forward(self, y):\n        sin = "
      "torch.ops.aten.sin.default(y);  y = None\n        return (sin,)\n\n";
  const std::string text = replaced(
      reproAround("        self.body_0 = body_0()\n",
                  "    def forward(self, x):\n        body_0 = self.body_0\n        a = "
                  "torch.ops.higher_order.invoke_subgraph(body_0, 'a', x);  body_0 = x = None\n        return (a,)\n",
                  scalar),
      "class Repro(", nested + "class Repro(");
  const auto capture = importRepro(text, {});
  ASSERT_TRUE(capture) << capture.error().text();
  EXPECT_TRUE(leftOutNotes(*capture, 0).empty());
  EXPECT_EQ(exportText(*capture, 0, {}).value_or(""), text);
  const std::string other = replaced(nested, "sin.default", "cos.default");
  const auto shadowed =
      importRepro(replaced(text, "\ndef load_args", "\n" + replaced(other, "body_0", "len") + "def load_args"), {});
  ASSERT_TRUE(shadowed) << shadowed.error().text();
  const auto exported = exportText(*shadowed, 0, {});
  ASSERT_TRUE(exported) << exported.error().text();
  EXPECT_EQ(codeOf(*exported).find("class len"), std::string::npos);
  EXPECT_EQ(codeOf(*exported).find("aten.cos"), std::string::npos);
}

TEST(Auditor, AClassNameThatIsTakenBecomesRepro) {
  for (const char* name : {"inf", "Linear", "len"}) {
    std::string text = replaced(reluRepro(scalar), "class Repro", std::string("class ") + name);
    text = replaced(text, "mod = Repro()", std::string("mod = ") + name + "()");
    const auto capture = importRepro(text, {});
    ASSERT_TRUE(capture) << capture.error().text();
    const auto exported = exportText(*capture, 0, {});
    ASSERT_TRUE(exported) << exported.error().text();
    EXPECT_NE(exported->find("class Repro(torch.nn.Module)"), std::string::npos) << *exported;
    EXPECT_NE(exported->find("\nmod = Repro()\n"), std::string::npos) << *exported;
  }
}

TEST(Auditor, AllowCallLetsOneTargetThroughAndSaysSo) {
  const TemporaryFolder folder;
  auto capture = importRepro(graphAround("a = torch.mylib.f(x)"), {});
  ASSERT_TRUE(capture) << capture.error().text();
  EXPECT_FALSE(exportRepro(*capture, 0, folder.path() / "no"));
  const auto allowed = parseExtraCalls({"torch.mylib.f", "torch.other.g"});
  ASSERT_TRUE(allowed) << allowed.error().text();
  capture->allowedCalls = *allowed;
  const auto file = exportRepro(*capture, 0, folder.path() / "out");
  ASSERT_TRUE(file) << file.error().text();
  const std::string text = testing::readFile(*file);
  EXPECT_TRUE(
      text.starts_with("# WARNING (call allowed by the user): this calls torch.mylib.f, of which Kerf knows nothing."));
  EXPECT_EQ(text.find("torch.other.g"), std::string::npos);
  EXPECT_FALSE(auditExport(text));
  EXPECT_TRUE(auditExport(text, *allowed));
  auto again = importRepro(text, {});
  ASSERT_TRUE(again);
  EXPECT_EQ(again->graphs[0].contentHash(), capture->graphs[0].contentHash());
  EXPECT_FALSE(exportRepro(*again, 0, folder.path() / "again"));  // once: what reads the file asks again
  again->allowedCalls = *allowed;
  const auto twice = exportRepro(*again, 0, folder.path() / "twice");
  ASSERT_TRUE(twice) << twice.error().text();
  EXPECT_EQ(testing::readFile(*twice), text);
}

TEST(Auditor, AllowCallTakesNamesOfFunctionsOnly) {
  for (const char* target : {"torch.load", "exec", "torch.os.system", "builtins.eval", "a.__class__.b", "f()", "",
                             "a..b", "torch.ops.load_library", "x; y", "torch.hub.f", "getattr"}) {
    const auto extra = parseExtraCalls({target});
    ASSERT_FALSE(extra) << target;
    EXPECT_EQ(extra.error().code, ErrorCode::BadUsage) << target;
  }
}

TEST(Auditor, AnnotationsThatAreNotUnderstoodAreShownHashedAndLeftOut) {
  const TemporaryFolder folder;
  const std::string plain = graphAround("a = torch.ops.aten.relu.default(x)");
  const auto with = importRepro(replaced(plain, "self, x)", "self, x : " + payload + ")"), {});
  const auto without = importRepro(plain, {});
  ASSERT_TRUE(with && without);
  EXPECT_NE(with->graphs[0].contentHash(), without->graphs[0].contentHash());
  EXPECT_EQ(leftOutNotes(*with, 0),
            std::vector<std::string>{"the annotation is not understood, and exports leave it out: x: " + payload});
  EXPECT_TRUE(leftOutNotes(*without, 0).empty());
  const auto stored = importRepro(reproText(*with, 0), {});  // the store keeps it, as a text that nothing runs
  ASSERT_TRUE(stored) << stored.error().text();
  EXPECT_EQ(stored->graphs[0].contentHash(), with->graphs[0].contentHash());
  const auto file = exportRepro(*with, 0, folder.path() / "out");
  ASSERT_TRUE(file) << file.error().text();
  EXPECT_EQ(importCapture(*file)->graphs[0].contentHash(), without->graphs[0].contentHash());
  EXPECT_EQ(testing::readFile(*file).find("system"), std::string::npos);
}

TEST(Auditor, LeavesOutWholeBlocksOfTheHeader) {
  const std::string kernel =
      "import triton\nimport triton.language as tl\n@triton.jit\ndef kernel(x, n: tl.constexpr):\n    y = "
      "tl.load(x)\n"
      "    tl.store(x, '''\nimport os\n''')\n";
  const auto capture = importRepro(headed(kernel + "text = '''\nimport math\n'''\ns0 = 8\n"), {});
  ASSERT_TRUE(capture) << capture.error().text();
  const auto text = exportText(*capture, 0, {});
  ASSERT_TRUE(text) << text.error().text();
  const std::string code = codeOf(*text);
  EXPECT_TRUE(code.starts_with("import triton\nimport triton.language as tl\ns0 = 8\nimport torch\n")) << code;
  for (const char* line :
       {"'@triton.jit'", "'def kernel(x, n: tl.constexpr):'", "'import os'", "\"text = '''\"", "'import math'"})
    EXPECT_NE(text->find(std::string("# Kerf left out: ") + line), std::string::npos) << line << *text;
  EXPECT_EQ(leftOutNotes(*capture, 0).size(), 9u);
}

}  // namespace
}  // namespace kerf
