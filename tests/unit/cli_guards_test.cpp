// Symbolic sizes from the command line: guards, ranges, --sym, exports and minification of dynamic graphs.
#include "engine/support/recordings.h"
#include "tests/support/cli_test.h"

namespace kerf::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Whether x and y have equally many rows, and w six elements, is for the guards to say.
constexpr const char* dynamicText = R"py(class GraphModule(torch.nn.Module):
    def forward(self, n: "Sym(s0)", x: "f32[s0, 4]", y: "f32[s1, 4]", w: "f32[s2]"):
        # File: /home/user/model.py:12 in forward, code: return x + y
        add: "f32[s0, 4]" = torch.ops.aten.add.Tensor(x, y);  x = y = None
        # File: /home/user/model.py:13 in forward, code: return w.view(2, 3)
        view: "f32[2, 3]" = torch.ops.aten.view.default(w, [2, 3]);  w = None
        relu: "f32[s0, 4]" = torch.ops.aten.relu.default(add);  add = None
        return (relu, view)
)py";

constexpr const char* dynamicLog =
    R"log(V1121 10:00:01.000000 77 torch/_logging/structured.py:28] {"str": ["/home/user/model.py", 0], "frame_id": 0, "frame_compile_id": 0, "attempt": 0}
V1121 10:00:01.100000 77 torch/a.py:1] {"create_symbol": {"symbol": "s0", "val": "6", "vr": "[2, 64]", "source": "L['x'].size()[0]", "user_stack": [{"line": 9, "name": "forward", "filename": 0}], "stack": []}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0}
V1121 10:00:01.100000 77 torch/a.py:1] {"create_symbol": {"symbol": "s1", "val": "6", "vr": "[2, int_oo]", "source": "L['y'].size()[0]"}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0}
V1121 10:00:01.200000 77 torch/a.py:1] {"guard_added_fast": {"expr": "Eq(s0, s1)", "user_stack": [{"line": 12, "name": "forward", "filename": 0}], "stack": []}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0}
V1121 10:00:01.200000 77 torch/a.py:1] {"guard_added": {"expr": "s0 <= 100"}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0}
V1121 10:00:01.200000 77 torch/a.py:1] {"guard_added": {"expr": "Ne(s0, 5)"}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0}
V1121 10:00:01.200000 77 torch/a.py:1] {"symbolic_shape_specialization": {"symbol": "s7", "sources": ["L['z']"], "value": "16", "reason": "find"}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0}
V1121 10:00:01.300000 77 torch/a.py:1] {"dynamo_cpp_guards_str": {}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0, "has_payload": "00000000000000000000000000000000"}
	TREE_GUARD_MANAGER:
	+- RootGuardManager
	| +- LAMBDA_GUARD: L['x'].size()[0] <= 64  # model.py:12 in forward
	| +- LAMBDA_GUARD: L['config'].wide is True  # model.py:13 in forward
V1121 10:00:01.400000 77 torch/a.py:1] {"aot_forward_graph": {}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0, "has_payload": "00000000000000000000000000000000"}
	class GraphModule(torch.nn.Module):
	    def forward(self, n: "Sym(s0)", x: "f32[s0, 4]", y: "f32[s1, 4]"):
	        # File: /home/user/model.py:12 in forward, code: return x + y
	        add: "f32[s0, 4]" = torch.ops.aten.add.Tensor(x, y);  x = y = None
	        mul: "f32[s0, 4]" = torch.ops.aten.mul.Tensor(add, n);  add = n = None
	        relu: "f32[s0, 4]" = torch.ops.aten.relu.default(mul);  mul = None
	        return (relu,)
)log";

class GuardsTest : public CliTest {
 protected:
  json guards(const std::string& graph, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments{"show", graph, "--format", "guards"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return runJson(arguments);
  }
  static json named(const json& list, const char* key, const std::string& value) {
    for (const auto& entry : list)
      if (entry[key] == value) return entry;
    return {};
  }
  static std::string recordedLog(const std::string& folder) {
    std::error_code missing;
    for (const auto& entry : fs::directory_iterator(recordingsFolder() / folder, missing))
      if (entry.path().extension() == ".log") return entry.path().string();
    return {};
  }
  std::string out(const std::string& name) const { return (folder / name).string(); }
  static std::string textOf(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
};

TEST_F(GuardsTest, NameSymbolsGuardsAndWhatTheyFix) {
  const auto shown = guards(write("graph.txt", dynamicText).string());
  ASSERT_EQ(shown["symbols"].size(), 3u);
  const auto s0 = named(shown["symbols"], "name", "s0");
  EXPECT_EQ(s0["range"], (json{{"lower", 2}, {"upper", nullptr}}));
  EXPECT_EQ(s0["value"], nullptr);
  EXPECT_EQ(s0["unbacked"], false);
  EXPECT_EQ(shown["duplicate_shapes"], (json::array({{{"size", "s0"}, {"places", {"n", "x.size()[0]"}}}})));
  EXPECT_THAT(shown["notes"][0].get<std::string>(), HasSubstr("the capture tells no value"));
}

TEST_F(GuardsTest, StandBesideThoseOfTheLog) {
  const auto log = write("trace.log", dynamicLog).string();
  const auto shown = guards(log);
  EXPECT_EQ(shown["compile_id"], "[0/0]");
  const auto s0 = named(shown["symbols"], "name", "s0");
  EXPECT_EQ(s0["value"], 6);
  EXPECT_EQ(s0["range"], (json{{"lower", 2}, {"upper", 64}}));
  EXPECT_EQ(named(shown["symbols"], "name", "s1")["range"], s0["range"]);
  EXPECT_EQ(s0["recorded"][0]["source"], "L['x'].size()[0]");
  EXPECT_EQ(s0["recorded"][0]["where"], "/home/user/model.py:9 in forward");
  ASSERT_EQ(shown["guards"].size(), 1u);
  const auto guard = shown["guards"][0];
  EXPECT_EQ(guard["guard"], "Eq(s0, s1)");
  EXPECT_EQ(guard["node"], "add");
  EXPECT_THAT(guard["where"].get<std::string>(), HasSubstr("model.py:12"));
  EXPECT_EQ(guard["recorded"], true);
  EXPECT_EQ(guard["deferred"], false);
  EXPECT_EQ(shown["replacements"][0]["symbol"], "s1");
  EXPECT_EQ(shown["replacements"][0]["value"], "s0");
  EXPECT_EQ(shown["replacements"][0]["node"], "add");
  std::vector<std::pair<std::string, std::string>> matches;
  for (const auto& entry : shown["recorded_guards"]) matches.emplace_back(entry["guard"], entry["match"]);
  EXPECT_EQ(matches, (std::vector<std::pair<std::string, std::string>>{{"Eq(s0, s1)", "derived"},
                                                                       {"s0 <= 100", "implied"},
                                                                       {"Ne(s0, 5)", "not derived"},
                                                                       {"Eq(s7, 16)", "other symbols"},
                                                                       {"s0 <= 64", "implied"}}));
  const auto text = run({"show", log, "--format", "guards"}).output;
  EXPECT_THAT(text, HasSubstr("s1 = s0, by node add (/home/user/model.py:12)"));
  EXPECT_THAT(text, HasSubstr("guard_added_fast"));
}

TEST_F(GuardsTest, TellWhichGivenSizesBreakThem) {
  const auto log = write("trace.log", dynamicLog).string();
  const auto shown = guards(log, {"--sym", "s0=99", "--sym", "s1=8"});
  EXPECT_EQ(shown["guards"][0]["holds"], false);
  EXPECT_EQ(named(shown["symbols"], "name", "s0")["fits"], false);
  EXPECT_EQ(named(shown["symbols"], "name", "s1")["fits"], true);
  EXPECT_THAT(run({"show", log, "--format", "guards", "--sym", "s0=99", "--sym", "s1=8"}).output,
              HasSubstr("99 (out of range)"));
  EXPECT_EQ(guards(log, {"--sym", "s0=9", "--sym", "s1=9"})["guards"][0]["holds"], true);
  EXPECT_EQ(run({"show", log, "--format", "guards", "--sym", "s5=9"}).status, 2);
}

TEST_F(GuardsTest, AreNoneWhereEverySizeIsANumber) {
  const auto result = run({"show", sample, "--format", "guards"});
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.output, HasSubstr("every size is a number"));
  EXPECT_EQ(guards(sample)["symbols"], json::array());
}

TEST_F(GuardsTest, SpecialiseWhatANodeFixes) {
  const auto shown =
      guards(write("graph.txt", dynamicText).string(), {"--sym", "s0=4", "--sym", "s1=4", "--sym", "s2=6"});
  const auto fixed = named(shown["specialisations"], "symbol", "s2");
  EXPECT_EQ(fixed["value"], "6");
  EXPECT_EQ(fixed["node"], "view");
  EXPECT_THAT(fixed["where"].get<std::string>(), HasSubstr("model.py:13"));
}

TEST_F(GuardsTest, CommandsTakeOtherSizes) {
  const auto log = write("trace.log", dynamicLog).string();
  EXPECT_EQ(runJson({"run", log})["outputs"], json::array({"f32[6, 4]"}));
  const std::vector<std::string> sizes{"--sym", "s0=3", "--sym", "s1=3"};
  const auto with = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), sizes.begin(), sizes.end());
    return arguments;
  };
  EXPECT_EQ(runJson(with({"run", log}))["outputs"], json::array({"f32[3, 4]"}));
  EXPECT_EQ(runJson(with({"run", log}))["symbols"], (json{{"s0", 3}, {"s1", 3}}));
  EXPECT_THAT(run(with({"compare", log})).output, HasSubstr("s0 = 3, s1 = 3"));
  EXPECT_EQ(runJson(with({"run", log, "--backend", "llvm"}))["outputs"], json::array({"f32[3, 4]"}));
  EXPECT_EQ(run(with({"compare", log, "--nodes"})).status, 0);
  EXPECT_EQ(run(with({"bisect", log, "--by", "node", "--plant", "relu=accuracy"})).status, 1);
  EXPECT_EQ(run(with({"passes", log})).status, 0);
  ASSERT_EQ(run({"import", log}).status, 0);
  EXPECT_EQ(run(with({"passes", "c1/g1"})).status, 0);
  EXPECT_EQ(guards("c1/g1@pass:cse")["symbols"], guards(log)["symbols"]);
  EXPECT_THAT(run({"show", log, "--format", "readable"}).output, HasSubstr("relu: \"f32[s0, 4][4, 1]cpu\""));
}

/// One compilation serves every size that its guards allow; 1 is not among them.
TEST_F(GuardsTest, RunsAtOtherSizesCompileOnlyWhereAGuardBreaks) {
  const auto file = write("graph.py", R"py(class GraphModule(torch.nn.Module):
    def forward(self, n: "Sym(s0)", x: "f32[s0, 4]", y: "f32[s0, 4]"):
        add: "f32[s0, 4]" = torch.ops.aten.add.Tensor(x, y);  x = y = None
        sum_1: "f32[4]" = torch.ops.aten.sum.dim_IntList(add, [0])
        view: "f32[4*s0]" = torch.ops.aten.view.default(add, [-1]);  add = None
        return (sum_1, view, n)
)py");
  const auto sized = [&](std::vector<std::string> then) {
    std::vector<std::string> arguments{"run", file.string(), "--backend", "llvm", "--sym", "s0=8"};
    for (const auto& sizes : then) arguments.insert(arguments.end(), {"--then", sizes});
    return runJson(arguments);
  };
  const json same = sized({"s0=16", "s0=300"});
  EXPECT_EQ(same["compilations"], 1);
  EXPECT_EQ(same["then"][0]["outputs"], (json{"f32[4]", "f32[64]", "16"}));
  EXPECT_EQ(same["then"][1]["outputs"], (json{"f32[4]", "f32[1200]", "300"}));
  const json other = sized({"s0=16", "s0=1", "s0=9"});
  EXPECT_EQ(other["compilations"], 2);
  ASSERT_EQ(other["recompilations"].size(), 1u);
  EXPECT_THAT(other["recompilations"][0].get<std::string>(), HasSubstr("s0 = 1"));
  EXPECT_EQ(other["then"][2]["outputs"], (json{"f32[4]", "f32[36]", "9"}));
  EXPECT_EQ(CliTest::run({"run", file.string(), "--then", "s7=2"}).status, 2);
}

TEST_F(GuardsTest, ExportsKeepTheSymbols) {
  const auto log = write("trace.log", dynamicLog).string();
  ASSERT_EQ(run({"export", log, "-o", out("repro")}).status, 0);
  const auto text = textOf(folder / "repro/repro.py");
  EXPECT_THAT(text, ::testing::StartsWith("s0 = 6  # VR[2, 64]\ns1 = 6\n"));
  EXPECT_THAT(text, HasSubstr("reader.symint(s0)  # n"));
  EXPECT_THAT(text, HasSubstr("(s0, 4)"));
  EXPECT_THAT(text, Not(HasSubstr("expr=")));
  const auto again = runJson({"show", out("repro/repro.py")});
  EXPECT_EQ(again["symbols"], runJson({"show", log + "#aot_forward_graph"})["symbols"]);
  EXPECT_EQ(named(guards(out("repro/repro.py"))["symbols"], "name", "s0")["range"],
            (json{{"lower", 2}, {"upper", 64}}));
  ASSERT_EQ(run({"export", log, "-o", out("other"), "--sym", "s0=9", "--sym", "s1=9"}).status, 0);
  EXPECT_THAT(textOf(folder / "other/repro.py"), ::testing::StartsWith("s0 = 9  # VR[2, 64]\ns1 = 9\n"));
  ASSERT_EQ(run({"export", out("repro/repro.py"), "-o", out("third"), "--sym", "s0=7", "--sym", "s1=7"}).status, 0);
  EXPECT_THAT(textOf(folder / "third/repro.py"), ::testing::StartsWith("s0 = 7  # VR[2, 64]\ns1 = 7\n"));
  EXPECT_EQ(runJson({"run", out("third/repro.py")})["outputs"], json::array({"f32[7, 4]"}));
}

TEST_F(GuardsTest, ProgramsKeepTheirRanges) {
  const auto log = write("trace.log", dynamicLog).string();
  ASSERT_EQ(run({"export", log, "-o", out("model.pt2")}).status, 0);
  const auto shown = guards(out("model.pt2"));
  EXPECT_EQ(named(shown["symbols"], "name", "s0")["range"], (json{{"lower", 2}, {"upper", 64}}));
  EXPECT_EQ(named(shown["symbols"], "name", "s0")["value"], 6);
  EXPECT_EQ(shown["guards"][0]["guard"], "Eq(s0, s1)");
  ASSERT_EQ(run({"export", out("model.pt2"), "-o", out("again.pt2")}).status, 0);
  EXPECT_EQ(guards(out("again.pt2"))["symbols"], shown["symbols"]);
}

TEST_F(GuardsTest, AssertsAreDeferredAndNarrowUnbackedSymbols) {
  const auto graph = write("graph.txt", R"py(class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[s0, 4]"):
        nonzero: "i64[u0, 2]" = torch.ops.aten.nonzero.default(x)
        sym_size: "Sym(u0)" = torch.ops.aten.sym_size.int(nonzero, 0)
        ge: "Sym(u0 >= 3)" = sym_size >= 3
        # File: /home/user/model.py:13 in forward, code: torch._check(n >= 3)
        _assert_scalar = torch.ops.aten._assert_scalar.default(ge, "few");  ge = None
        full: "f32[u0]" = torch.ops.aten.full.default([sym_size], 1.0);  sym_size = None
        return (full, nonzero)
)py");
  const auto shown = guards(graph.string(), {"--sym", "s0=5"});
  const auto u0 = named(shown["symbols"], "name", "u0");
  EXPECT_EQ(u0["unbacked"], true);
  EXPECT_EQ(u0["range"], (json{{"lower", 3}, {"upper", nullptr}}));
  ASSERT_EQ(shown["guards"].size(), 1u);
  EXPECT_EQ(shown["guards"][0]["guard"], "u0 >= 3");
  EXPECT_EQ(shown["guards"][0]["deferred"], true);
  EXPECT_EQ(shown["guards"][0]["node"], "_assert_scalar");
  EXPECT_THAT(run({"show", graph.string(), "--format", "guards"}).output, HasSubstr("runtime assert"));
  ASSERT_EQ(run({"export", graph.string(), "-o", out("model.pt2")}).status, 0);
  EXPECT_EQ(named(guards(out("model.pt2"))["symbols"], "name", "u0")["range"], u0["range"]);
}

TEST_F(GuardsTest, OfAProgramStandBesideItsOwn) {
  const auto shown = guards(std::string(KERF_SOURCE_DIR) + "/tests/data/symbolic/unet.pt2");
  const auto own = named(shown["recorded_guards"], "guard", "(1 + (((-1) + L['x'].size()[3]) // 2)) != 1");
  EXPECT_EQ(own["record"], "guards_code");
  EXPECT_EQ(own["match"], "derived");
  EXPECT_EQ(own["line"], nullptr);
  EXPECT_EQ(named(shown["guards"], "guard", "Ne((((s0 - 1)//2)) + 1, 1)")["recorded"], true);
  EXPECT_EQ(named(shown["symbols"], "name", "s53")["value"], 16);
}

TEST_F(GuardsTest, ARecordedRangeIsNarrowedByGuards) {
  const auto shown = guards(std::string(KERF_SOURCE_DIR) + "/tests/fuzz/seeds/pt2/dynamic.pt2");  // s0 from 0 on
  EXPECT_EQ(named(shown["guards"], "guard", "Ne(s0, 1)")["node"], "view");
  EXPECT_EQ(named(shown["symbols"], "name", "s0")["range"], (json{{"lower", 2}, {"upper", nullptr}}));
}

TEST_F(GuardsTest, MinifyShrinksSymbols) {
  const auto log = write("trace.log", dynamicLog).string();
  const auto done = runJson({"minify", log, "--plant", "relu=accuracy", "-o", out("small")});
  EXPECT_EQ(done["nodes"], 3);
  EXPECT_EQ(runJson({"show", out("small/repro.py")})["symbols"], json::array());
  EXPECT_THAT(textOf(folder / "small/repro.py"), Not(HasSubstr("s0")));
}

TEST_F(GuardsTest, MinifyKeepsASymbolThatMattersAndItsLeastValue) {
  const auto graph = write("graph.txt", R"py(class GraphModule(torch.nn.Module):
    def forward(self, n: "Sym(s0)", x: "f32[s0, 8]"):
        mul: "Sym(2*s0)" = n * 2
        sigmoid: "f32[s0, 8]" = torch.ops.aten.sigmoid.default(x);  x = None
        view: "f32[2*s0, 4]" = torch.ops.aten.view.default(sigmoid, [mul, 4]);  sigmoid = mul = None
        relu: "f32[2*s0, 4]" = torch.ops.aten.relu.default(view);  view = None
        return (relu,)
)py");
  const auto check = write("check.sh", R"sh(#!/bin/sh
size=$(sed -n 's/^s0 = \([0-9]*\).*/\1/p' "$1")
! { grep -q aten.view "$1" && [ "${size:-0}" -ge 5 ]; }
)sh");
  fs::permissions(check, fs::perms::owner_all);
  const auto done = runJson({"minify", graph.string(), "--sym", "s0=40", "--oracle", "command", "--check",
                             check.string(), "-o", out("small")});
  EXPECT_EQ(done["nodes"], 4);
  const auto text = textOf(folder / "small/repro.py");
  EXPECT_THAT(text, ::testing::StartsWith("s0 = 5\n"));
  EXPECT_THAT(text, HasSubstr("(s0, 8)"));
  EXPECT_THAT(text, HasSubstr("reader.symint(2*s0)"));
  EXPECT_THAT(text, HasSubstr("tracing_mode='symbolic'"));
  EXPECT_EQ(runJson({"run", out("small/repro.py"), "--sym", "s0=9"})["outputs"], json::array({"f32[18, 4]"}));
}

TEST_F(GuardsTest, RecordedMlpHasItsLogsGuards) {
  const auto log = recordedLog("variety/dynamic_mlp/trace");
  if (log.empty()) GTEST_SKIP() << "no recording of dynamic_mlp";
  const auto shown = guards(log + "#aot_forward_graph");
  const auto s33 = named(shown["symbols"], "name", "s33");
  EXPECT_EQ(s33["value"], 4);
  EXPECT_EQ(s33["range"], (json{{"lower", 2}, {"upper", nullptr}}));
  EXPECT_EQ(s33["recorded"][0]["source"], "L['args'][0].size()[0]");
  EXPECT_EQ(shown["guards"], json::array());
  EXPECT_EQ(named(shown["recorded_guards"], "guard", "Eq(s50, 16)")["match"], "other symbols");
  EXPECT_EQ(named(shown["recorded_guards"], "guard", "s33 <= 4096")["match"], "not derived");
  EXPECT_EQ(runJson({"run", log + "#aot_forward_graph", "--sym", "s33=7"})["outputs"][0], "f32[7, 4]");
}

}  // namespace
}  // namespace kerf::cli
