// kerf capture, and what goes on from a captured program, from the command line.
#include <map>

#include "tests/support/cli_test.h"

namespace kerf::cli {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

class ProgramsTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    if (run({"capture", program("empty.py", "")}).status == 3) GTEST_SKIP() << "this kerf runs no programs";
  }
  std::string program(const std::string& name, const std::string& text) const { return write(name, text).string(); }
};

constexpr const char* twoGraphs =
    "import torch\n"
    "@torch.compile(backend='eager')\n"
    "def f(x):\n"
    "    y = x * 2 + 1\n"
    "    print('between')\n"
    "    return y.sin()\n"
    "print(f(torch.ones(3)).sum().item())\n";

TEST_F(ProgramsTest, BackendsGiveWhatTheProgramGives) {
  const std::string path = program("two.py", twoGraphs);
  const auto eager = runJson({"capture", path});
  for (const std::string backend : {"eager", "aot_eager", "inductor"}) {
    const auto ran = runJson({"capture", path, "--backend", backend});
    EXPECT_EQ(ran["output"].get<std::string>().substr(0, 8), "between\n");
    EXPECT_NEAR(std::stod(ran["output"].get<std::string>().substr(8)),
                std::stod(eager["output"].get<std::string>().substr(8)), 1e-5);
    for (const auto& graph : ran["captured"]["graphs"]) EXPECT_EQ(graph["ran_by"], backend);
  }
}

TEST_F(ProgramsTest, GraphsThatMustStayWithTheInterpreterSayWhy) {
  const std::string path = program("writes.py",
                                   "import torch\n@torch.compile\ndef f(x):\n    x.add_(1)\n    return x * 2\n"
                                   "x = torch.ones(2)\nprint(f(x).tolist(), x.tolist())\n");
  const auto ran = runJson({"capture", path, "--backend", "inductor"});
  EXPECT_EQ(ran["output"], "[4.0, 4.0] [2.0, 2.0]\n");
  EXPECT_EQ(ran["captured"]["graphs"][0]["ran_by"], "eager (add_ writes into its input)");
}

TEST_F(ProgramsTest, FullgraphAndDynamicStandInPlaceOfTheProgramsWords) {
  const std::string path = program("two.py", twoGraphs);
  const auto whole = run({"capture", path, "--fullgraph", "--json"});
  EXPECT_EQ(whole.status, 1);
  EXPECT_THAT(whole.output, HasSubstr("Unsupported"));
  const std::string sizes = program("sizes.py",
                                    "import torch\n@torch.compile\ndef f(x): return x + 1\n"
                                    "for n in (2, 3, 4): f(torch.ones(n))\n");
  EXPECT_EQ(runJson({"capture", sizes})["captured"]["graphs"].size(), 2u);
  EXPECT_EQ(runJson({"capture", sizes, "--dynamic", "false"})["captured"]["graphs"].size(), 3u);
  EXPECT_EQ(runJson({"capture", sizes, "--dynamic", "true"})["captured"]["graphs"].size(), 1u);
}

TEST_F(ProgramsTest, CompareTakesAllGraphsOfAProgram) {
  const auto ran = runJson({"capture", program("two.py", twoGraphs)});
  const std::string capture = ran["captured"]["stored"]["capture"];
  const auto sum = runJson({"compare", capture});
  EXPECT_TRUE(sum["same"].get<bool>());
  EXPECT_EQ(sum["graphs"].size(), 2u);
  EXPECT_EQ(sum["sum"]["same"], 2);
  EXPECT_THAT(run({"compare", capture}).output, HasSubstr("2 of 2 graphs same, 0 different, 0 failed"));
}

/// Also after it was stored, and in the .pt2 that it becomes.
TEST_F(ProgramsTest, AnExportKeepsItsSignatureAndItsSymbols) {
  const auto ran =
      runJson({"capture", program("export.py",
                                  "import torch\n"
                                  "from torch.export import Dim, export\n"
                                  "class M(torch.nn.Module):\n"
                                  "    def __init__(self):\n"
                                  "        super().__init__()\n"
                                  "        self.l = torch.nn.Linear(4, 2)\n"
                                  "    def forward(self, x): return self.l(x).relu()\n"
                                  "export(M(), (torch.ones(3, 4),), dynamic_shapes=({0: Dim('b', max=9)},))\n")});
  const std::string graph = ran["captured"]["stored"]["capture"].get<std::string>() + "/g1";
  const std::string archive = (folder / "m.pt2").string();
  EXPECT_EQ(run({"export", graph, "--format", "pt2", "-o", archive}).status, 0);
  for (const std::string& address : {graph, archive}) {
    const auto shown = runJson({"show", address});
    ASSERT_EQ(shown["signature"]["inputs"].size(), 3u) << address;
    EXPECT_EQ(shown["signature"]["inputs"][0]["kind"], "parameter");
    EXPECT_EQ(shown["signature"]["inputs"][0]["target"], "l.weight");
    EXPECT_EQ(shown["signature"]["inputs"][2]["kind"], "user_input");
    ASSERT_EQ(shown["symbols"].size(), 1u) << address;
    EXPECT_EQ(shown["symbols"][0]["hint"], 3);
  }
  EXPECT_EQ(run({"run", archive}).status, 0);
}

TEST_F(ProgramsTest, TheReportHasFramesBytecodeGuardsAndNodesByTheirLines) {
  const std::string path = program("two.py", twoGraphs);
  const auto ran = runJson({"capture", path});
  const std::string capture = ran["captured"]["stored"]["capture"];
  const auto told = runJson({"show", capture, "--format", "program"});
  EXPECT_EQ(told["source"], twoGraphs);
  EXPECT_EQ(told["output"], ran["output"]);
  ASSERT_EQ(told["frames"].size(), 2u);
  const auto& frame = told["frames"][0];
  EXPECT_EQ(frame["id"], "[0/0]");
  EXPECT_EQ(frame["runs"], 1);
  EXPECT_EQ(frame["line"], 2);
  EXPECT_EQ(frame["guards"].size(), ran["captured"]["frames"][0]["guards"].size());
  for (const auto& guard : frame["guards"]) EXPECT_GT(guard["nanoseconds"].get<double>(), 0);
  bool stores = false;
  for (const auto& row : frame["original"])
    stores = stores || (row["name"] == "STORE_FAST" && row["argument"] == "y" && row["line"] == 4);
  EXPECT_TRUE(stores) << frame["original"].dump();
  EXPECT_FALSE(frame["modified"].empty());
  ASSERT_EQ(told["breaks"].size(), 1u);
  EXPECT_EQ(told["breaks"][0]["id"], "GB0059");
  EXPECT_EQ(told["breaks"][0]["line"], 5);
  EXPECT_EQ(told["breaks"][0]["frame"], 0);
  std::map<std::string, int> lines;
  for (const auto& node : told["graphs"][0]["nodes"])
    if (!node["lines"].empty()) lines[node["name"]] = node["lines"].back();
  EXPECT_EQ(lines, (std::map<std::string, int>{{"mul", 4}, {"add", 4}}));
  EXPECT_EQ(told["graphs"][1]["stored"], 1);
  const std::string text = run({"show", capture, "--format", "program"}).output;
  EXPECT_THAT(text, HasSubstr("     5 |     print('between')\n       | frame [1/0] torch_dynamo_resume_in_f_at_5: "));
  EXPECT_THAT(text, HasSubstr("       | graph break GB0059: Failed to trace builtin operator\n"));
  EXPECT_EQ(run({"show", capture + "/g1", "--format", "program"}).status, 2);
  EXPECT_EQ(run({"store", "verify"}).status, 0);
}

TEST_F(ProgramsTest, ARecompiledFrameSaysWhy) {
  const std::string path = program("again.py",
                                   "import torch\n@torch.compile(backend='eager', dynamic=False)\n"
                                   "def f(x):\n    return x + 1\n"
                                   "for n in (2, 2, 3): f(torch.ones(n))\n");
  const std::string capture = runJson({"capture", path})["captured"]["stored"]["capture"];
  const auto frames = runJson({"show", capture, "--format", "program"})["frames"];
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[0]["runs"], 2);
  EXPECT_EQ(frames[1]["runs"], 1);
  EXPECT_EQ(frames[1]["id"], "[0/1]");
  EXPECT_EQ(frames[0]["because"], "");
  EXPECT_THAT(frames[1]["because"].get<std::string>(), HasSubstr("size mismatch at index 0. expected 2, actual 3"));
}

/// The same text whose graphs ran otherwise is another capture; the same again is none.
TEST_F(ProgramsTest, ACaptureIsOfWhatTheProgramDid) {
  const auto path = program("two.py", twoGraphs);
  const std::string first = runJson({"capture", path})["captured"]["stored"]["capture"];
  EXPECT_EQ(runJson({"capture", path})["captured"]["stored"]["capture"], first);
  const std::string other = runJson({"capture", path, "--backend", "inductor"})["captured"]["stored"]["capture"];
  EXPECT_NE(other, first);
  EXPECT_EQ(runJson({"show", first, "--format", "program"})["graphs"][0]["ran_by"], "eager");
  EXPECT_EQ(runJson({"show", other, "--format", "program"})["graphs"][0]["ran_by"], "inductor");
}

TEST_F(ProgramsTest, ImportOfAProgramSaysHowToCaptureIt) {
  const std::string path = program("plain.py", "import torch\nprint(torch.ones(2))\n");
  const auto refused = run({"import", path});
  EXPECT_NE(refused.status, 0);
  EXPECT_THAT(refused.errors, HasSubstr("run `kerf capture " + path + "`"));
}

/// Whatever is in it: no import, no class, nothing that looks like a graph.
TEST_F(ProgramsTest, EveryPythonFileWithoutAGraphMayBeAProgram) {
  for (const std::string text :
       {"x = 1\nprint(x)\n", "class A:\n    pass\n", "# nothing\n", "for i in ():\n    pass\n"}) {
    const std::string path = program("any.py", text);
    for (const std::string command : {"import", "compare", "show"}) {
      const auto refused = run({command, path});
      EXPECT_EQ(refused.status, 2) << text;
      EXPECT_THAT(refused.errors, HasSubstr("run `kerf capture " + path + "`")) << command << "\n" << text;
    }
  }
  EXPECT_THAT(run({"import", write("note.txt", "hello\n").string()}).errors, Not(HasSubstr("kerf capture")));
}

/// What compile_fx compiled of a graph, and why it left others to the interpreter.
TEST_F(ProgramsTest, CompileFxRunsKerfsCompiler) {
  const std::string path = program("fx.py",
                                   "import torch\n"
                                   "from torch._inductor.compile_fx import compile_fx, compile_fx_inner\n"
                                   "def inner(gm, inputs, **kwargs):\n"
                                   "    made = compile_fx_inner(gm, inputs, **kwargs)\n"
                                   "    print(made.ran_by)\n"
                                   "    return made\n"
                                   "def backend(gm, inputs):\n"
                                   "    return compile_fx(gm, inputs, inner_compile=inner)\n"
                                   "def run(f, *args):\n"
                                   "    print([t.tolist() for t in torch.compile(f, backend=backend)(*args)])\n"
                                   "x = torch.tensor([1.0, 2.0])\n"
                                   "run(lambda x: (x * 3 + 1, x.sum()), x)\n"
                                   "run(lambda x: (x.view(2, 1), x + 1), x)\n"
                                   "run(lambda x: (x.add_(1), x * 2), x)\n"
                                   "run(lambda x: (x * torch.rand(2) * 0,), x)\n"
                                   "w = torch.tensor([2.0, 4.0], requires_grad=True)\n"
                                   "torch.compile(lambda w: (w * w).sum(), backend=backend)(w).backward()\n"
                                   "print(w.grad.tolist())\n");
  EXPECT_EQ(runJson({"capture", path})["output"],
            "inductor\n[[4.0, 7.0], 3.0]\n"
            "eager (an output is memory of an input)\n[[[1.0], [2.0]], [2.0, 3.0]]\n"
            "eager (the graph writes into its inputs)\n[[2.0, 3.0], [4.0, 6.0]]\n"
            "eager (torch.ops.aten.rand.default draws random numbers)\n[[0.0, 0.0]]\n"
            "inductor\ninductor\n[4.0, 8.0]\n");
}

/// bfloat16 between two calls: 1 + 2^-8 is 1 there, and not in float32, in which fused code keeps it unless asked.
TEST_F(ProgramsTest, SettingsOfInductorAct) {
  const std::string path = program("settings.py",
                                   "import torch\n"
                                   "x = torch.ones(4, dtype=torch.bfloat16)\n"
                                   "f = lambda x: (x + 0.00390625) - 1\n"
                                   "for emulates in (True, False):\n"
                                   "    g = torch.compile(f, options={'emulate_precision_casts': emulates})\n"
                                   "    print(g(x)[0].item())\n");
  EXPECT_EQ(runJson({"capture", path})["output"], "0.0\n0.00390625\n");
}

/// Each level of each kind writes the file that PyTorch does, with its runner.
TEST_F(ProgramsTest, ReprosHaveTheShapeOfTheirLevel) {
  const std::string good = "import torch\nf = torch.compile(lambda x: (x * 2).sin())\nf(torch.ones(3))\n";
  const std::string fails = program("fails.py", good + "raise ValueError\n"), works = program("works.py", good);
  for (const std::string after : {"dynamo", "aot"})
    for (const int level : {1, 2, 3, 4}) {
      const auto repro = [&](const std::string& path) {
        const fs::path into = folder / fmt::format("{}_{}_{}", fs::path(path).stem().string(), after, level);
        run({"capture", path, "--repro-after", after, "--repro-level", std::to_string(level), "--repro-dir",
             into.string()});
        std::string found;
        std::error_code none;
        for (const auto& entry : fs::recursive_directory_iterator(into, none))
          if (entry.path().extension() == ".py") found += entry.path().string();
        return found;
      };
      const std::string file = repro(fails), text = textOf(file);
      EXPECT_THAT(file, EndsWith(level == 1 ? "/minifier/repro.py" : "/minifier/minifier_launcher.py"));
      EXPECT_THAT(text, HasSubstr("from torch._dynamo.repro.after_" + after + " import run_repro"));
      EXPECT_THAT(text, HasSubstr(level == 1 ? "command='run'" : "command='minify'"));
      EXPECT_THAT(text, HasSubstr(after == "aot" ? "torch.ops.aten.mul.Tensor" : " * 2"));
      EXPECT_EQ(repro(works).empty(), level != 3);
    }
}

TEST_F(ProgramsTest, MissingNamesOfPythonAreListedByModule) {
  const auto all = runJson({"ops", "--missing", "python"});
  EXPECT_EQ(all["names"].size(), all["missing"]);
  EXPECT_GT(all["missing"], 100);
  const auto some = runJson({"ops", "--missing", "python", "torch.Tensor.*"});
  ASSERT_GT(some["missing"], 0);
  for (const auto& row : some["names"]) EXPECT_EQ(row["module"], "torch.Tensor");
  EXPECT_THAT(run({"ops", "--missing", "python", "sparse"}).output, HasSubstr("torch.Tensor"));
}

TEST_F(ProgramsTest, ConformanceReadsProgramsThatWereExplained) {
  program("plus.py", "import torch\ndef f(x): return torch.relu(x + 1)\ndef build(): return f, (torch.ones(2),)\n");
  program("expected.json", R"({"programs": [{"name": "plus", "break_reasons": [], "graphs": [[["placeholder", "L_x_"],
      ["call_function", "<built-in function add>"],
      ["call_function", "<built-in method relu of type object at 0x7f>"], ["output", "output"]]]}]})");
  const auto told = run({"conformance", folder.string(), "--json"});
  const auto fields = json::parse(told.output);
  EXPECT_EQ(fields["op_lists"]["equal"], 1) << told.output;
  EXPECT_EQ(fields["breaks"]["equal"], 1);
  EXPECT_EQ(fields["values"]["equal"], 0) << "there are no recorded outputs";
}

TEST_F(ProgramsTest, ExportedProgramsAreTold) {
  const std::string path = program("export.py",
                                   "import torch\n"
                                   "from torch.export import export\n"
                                   "for size in (2, 3): export(torch.nn.ReLU(), (torch.ones(size),))\n");
  const auto told = runJson({"capture", path})["captured"];
  ASSERT_EQ(told["exported"].size(), 2u);
  EXPECT_EQ(told["exported"][0]["name"], "exported_program");
  EXPECT_EQ(told["exported"][1]["name"], "exported_program_2");
  EXPECT_THAT(told["exported"][1]["text"].get<std::string>(), HasSubstr("f32[3]"));
  EXPECT_EQ(told["stored"]["graphs"], 2);
  const std::string text = run({"capture", path}).output;
  EXPECT_THAT(text, HasSubstr("exported: exported_program_2\n"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("nothing was compiled")));
}

TEST_F(ProgramsTest, ExportedModulesRefuseSizesThatGuardsAndDimsForbid) {
  const std::string path = program(
      "sizes.py",
      "import torch\n"
      "from torch.export import export, Dim\n"
      "def module(forward): return type('M', (torch.nn.Module,), {'forward': forward})()\n"
      "def attempt(f, *args):\n"
      "    try: print(f(*args).tolist())\n"
      "    except Exception as error: print(type(error).__name__, str(error).split('\\n')[1:2] or error)\n"
      "ones, d = torch.ones, Dim('d')\n"
      "equal = export(module(lambda self, x, y: x + y), (ones(4), ones(4)), dynamic_shapes=({0: d}, {0: d})).module()\n"
      "attempt(equal, ones(2), ones(2))\nattempt(equal, ones(2), ones(1))\n"
      "pairs = module(lambda self, x: x.view(-1, 2).sum(0))\n"
      "even = export(pairs, (ones(4),), dynamic_shapes=({0: Dim.AUTO},)).module()\n"
      "attempt(even, ones(6))\nattempt(even, ones(7))\n"
      "attempt(lambda: export(pairs, (ones(4),), dynamic_shapes=({0: d},)))\n"
      "both = module(lambda self, x, y: x.view(-1, 2).sum(1) + y)\n"
      "twice = export(both, (ones(8), ones(4)), dynamic_shapes=({0: 2 * d}, {0: d})).module()\n"
      "attempt(twice, ones(6), ones(3))\nattempt(twice, ones(6), ones(1))\nattempt(twice, ones(7), ones(3))\n");
  EXPECT_EQ(
      runJson({"capture", path})["output"],
      "[2.0, 2.0]\nAssertionError Guard failed: x.size()[0] == y.size()[0]\n"
      "[3.0, 3.0]\nAssertionError Guard failed: Mod(x.size()[0], 2) == 0\n"
      "UserError [\"  - Not all values of d = L['x'].size()[0] in the specified range satisfy the generated guard "
      "Mod(L['x'].size()[0], 2) == 0.\"]\n"
      "[3.0, 3.0, 3.0]\nAssertionError Guard failed: (x.size()[0]//2) == y.size()[0]\n"
      "AssertionError Guard failed: Mod(x.size()[0], 2) == 0\n");
}

TEST_F(ProgramsTest, StoredGraphsKeepTheLinesOfTheirNodes) {
  const std::string path = program("lines.py",
                                   "import torch\n"
                                   "def helper(x):\n"
                                   "    return x.sin()\n"
                                   "@torch.compile(backend='eager')\n"
                                   "def f(x):\n"
                                   "    return helper(x) * 2\n"
                                   "f(torch.ones(2))\n");
  const std::string capture = runJson({"capture", path})["captured"]["stored"]["capture"];
  std::map<std::string, std::string> lines;
  const json shown = runJson({"show", capture + "/g1"});
  for (const auto& node : shown["nodes"])
    lines[node["name"]] = node["source_file"].get<std::string>() + ":" + node["source_line"].dump();
  EXPECT_EQ(lines["sin"], "lines.py:3");
  EXPECT_EQ(lines["mul"], "lines.py:6");
}

}  // namespace
}  // namespace kerf::cli
