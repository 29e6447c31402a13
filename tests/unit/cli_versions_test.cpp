// What changed between versions: bisecting installed environments, and the findings of two captures of one model.
#include "engine/process/program.h"
#include "tests/support/cli_test.h"

namespace kerf::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class VersionsTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    setenv("PYTHONPATH", KERF_SOURCE_DIR "/tests/support/fake_torch", 1);
    setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
    m_python = findProgram("python3");
    if (m_python.empty()) GTEST_SKIP() << "there is no python3";
    repro = write("repro.py", test::smallRepro("        first = torch.ops.aten.neg.default(arg0_1)\n"
                                               "        second = torch.ops.aten.relu.default(first)\n"
                                               "        return (second,)\n"));
  }
  void TearDown() override {
    for (const char* name : {"PYTHONPATH", "PYTHONDONTWRITEBYTECODE"}) unsetenv(name);
    CliTest::TearDown();
  }
  /// A program that starts Python with another PyTorch; `mended`: the ops that it compiles rightly.
  std::string python(const std::string& version, const std::string& mended, const std::string& more = "") {
    const auto path =
        write("python-" + version, "#!/bin/sh\nexport FAKE_TORCH_VERSION=" + version + " FAKE_TORCH_MENDED=" + mended +
                                       " " + more + "\nexec " + m_python.string() + " \"$@\"\n");
    fs::permissions(path, fs::perms::owner_all);
    return path.string();
  }

  fs::path repro, m_python;
};

TEST_F(VersionsTest, NamesTheFirstVersionThatFails) {
  const std::vector<std::string> pythons{python("2.9.1", "relu"), python("2.10.0", "relu"),
                                         python("2.11.0", "", "FAKE_TORCH_BROKEN=1"), python("2.12.0", ""),
                                         python("2.13.0", "")};
  std::vector<std::string> command{"bisect", repro.string(), "--versions"};
  command.insert(command.end(), pythons.begin(), pythons.end());
  const auto found = runJson(command, 1);
  EXPECT_EQ(found["by"], "version");
  ASSERT_EQ(found["culprits"].size(), 1U);
  EXPECT_EQ(found["culprits"][0], "2.12.0 (" + pythons[3] + ")");
  EXPECT_EQ(found["remarks"][0], "2.10.0 (" + pythons[1] + ") passes");
  EXPECT_THAT(std::string(found["remarks"][1]), HasSubstr("fails: "));
  EXPECT_EQ(found["remarks"][2], pythons[2] + " lies between them and cannot be tested");
  EXPECT_EQ(found["trials"].size(), 5U);
  const auto words = run(command).output;
  EXPECT_THAT(words, HasSubstr("the fault begins at version 2.12.0"));
  EXPECT_THAT(words, HasSubstr("cannot be tested: "));
}

TEST_F(VersionsTest, SaysWhenAFailureEndsAndWhenNothingChanges) {
  const auto fails = python("2.11.0", ""), passes = python("2.12.0", "relu");
  const auto ends = runJson({"bisect", repro.string(), "--versions", fails, passes}, 1);
  EXPECT_EQ(ends["culprits"][0], "2.12.0 (" + passes + ")");
  EXPECT_EQ(ends["note"], "the failure ends here: later versions run it");
  const auto same = runJson({"bisect", repro.string(), "--versions", passes, passes});
  EXPECT_TRUE(same["culprits"].empty());
  EXPECT_EQ(same["note"], "every version that was tried runs it without a failure");
}

TEST_F(VersionsTest, AProgramMayHaveArguments) {
  const auto passes = python("2.11.0", "relu"), fails = python("2.12.0", "");
  const auto found = runJson({"bisect", repro.string(), "--versions", passes + " -B -X utf8", fails + " -B"}, 1);
  EXPECT_EQ(found["culprits"][0], "2.12.0 (" + fails + " -B)");
}

TEST_F(VersionsTest, RefusesWhatMakesNoSense) {
  const auto one = python("2.11.0", "relu");
  EXPECT_THAT(run({"bisect", repro.string(), "--versions", one}).errors, HasSubstr("at least two programs"));
  EXPECT_THAT(run({"bisect", repro.string(), "--by", "pass", "--versions", one, one}).errors,
              HasSubstr("--versions bisects by version, not by pass"));
  EXPECT_THAT(run({"bisect", repro.string()}).errors, HasSubstr("--by KIND or --versions"));
  const auto absent = run({"bisect", repro.string(), "--versions", "/nowhere/python", "/nowhere/python2"});
  EXPECT_NE(absent.status, 0);
  EXPECT_THAT(absent.errors, HasSubstr("fewer than two of 2 versions can test the graph"));
  EXPECT_THAT(absent.errors, HasSubstr("/nowhere/python"));
}

/// A TORCH_TRACE log of one compilation.
class LogOf {
 public:
  LogOf() { record("dynamo_start", R"({"stack": [{"line": 3, "name": "f", "filename": "m.py"}]})", ""); }
  LogOf& graph(const std::string& stage, const std::string& text) { return record(stage, "{}", text); }
  LogOf& artifact(const std::string& name, const std::string& text) {
    return record("artifact", R"({"name": ")" + name + R"(", "encoding": "string"})", text);
  }
  LogOf& record(const std::string& kind, const std::string& value, const std::string& payload) {
    m_text += "V1129 10:00:0" + std::to_string(m_count++ % 10) + ".000000 7 torch/x.py:1] {\"" + kind + "\": " + value +
              ", \"frame_id\": 0, \"frame_compile_id\": 0, \"attempt\": 0" +
              (payload.empty() ? "" : ", \"has_payload\": \"0\"") + "}\n";
    std::istringstream lines(payload);
    for (std::string line; std::getline(lines, line);) m_text += "\t" + line + "\n";
    return *this;
  }
  const std::string& text() const { return m_text; }

 private:
  std::string m_text;
  int m_count = 0;
};

std::string softmaxGraph(const std::string& dim) {
  return "class <lambda>(torch.nn.Module):\n"
         "    def forward(self, arg0_1: \"f32[8, 16][16, 1]cpu\"):\n"
         "        amax: \"f32[8, 1][1, 1]cpu\" = torch.ops.aten.amax.default(arg0_1, [" +
         dim +
         "], True)\n"
         "        sub: \"f32[8, 16][16, 1]cpu\" = torch.ops.aten.sub.Tensor(arg0_1, amax)\n"
         "        exp: \"f32[8, 16][16, 1]cpu\" = torch.ops.aten.exp.default(sub)\n"
         "        sum_1: \"f32[8, 1][1, 1]cpu\" = torch.ops.aten.sum.dim_IntList(exp, [-1], True)\n"
         "        div: \"f32[8, 16][16, 1]cpu\" = torch.ops.aten.div.Tensor(exp, sum_1)\n"
         "        return (div,)\n";
}

class CaptureFindingsTest : public CliTest {
 protected:
  json findings(const LogOf& before, const LogOf& after, int status = 1) {
    const auto a = write("a.log", before.text()), b = write("b.log", after.text());
    words = run({"diff", a.string(), b.string()}).output;
    return runJson({"diff", a.string(), b.string()}, status)["findings"];
  }
  static json ofKind(const json& findings, const std::string& kind) {
    json found = json::array();
    for (const auto& each : findings)
      if (each["kind"] == kind) found.push_back(each);
    return found;
  }
  std::string words;
};

TEST_F(CaptureFindingsTest, APatternThatMatchesNoMoreIsNamedWithTheNodeThatChanged) {
  std::string other = softmaxGraph("-1");
  other.replace(other.find("aten.exp.default"), 16, "aten.exp2.default");
  const auto found =
      findings(LogOf().graph("aot_inference_graph", softmaxGraph("-1")), LogOf().graph("aot_inference_graph", other));
  const auto patterns = ofKind(found, "pattern");
  ASSERT_GE(patterns.size(), 1U) << found.dump(1);
  EXPECT_EQ(patterns[0]["text"], "matched once and now not at all");
  EXPECT_EQ(patterns[0]["graph"], "aot_inference_graph");
  EXPECT_EQ(patterns[0]["compile"], "[0/0]");
  const std::string because = patterns[0]["because"].dump();
  EXPECT_THAT(because, HasSubstr("at div: 1 of its 5 calls fit, then exp is aten.exp2.default"));
  EXPECT_THAT(because, HasSubstr("exp is now exp: f32[8, 16] = torch.ops.aten.exp2.default(sub)"));
  EXPECT_THAT(words, HasSubstr("what matters, most first\n  pattern "));
  const auto back =
      findings(LogOf().graph("aot_inference_graph", other), LogOf().graph("aot_inference_graph", softmaxGraph("-1")));
  EXPECT_EQ(ofKind(back, "pattern")[0]["text"], "matched not at all and now once");
}

TEST_F(CaptureFindingsTest, SizesThatBecomeSymbolicAreNamed) {
  std::string symbolic = softmaxGraph("-1");
  for (std::size_t at = symbolic.find("f32[8"); at != std::string::npos; at = symbolic.find("f32[8", at))
    symbolic.replace(at, 5, "f32[s77");
  symbolic.replace(symbolic.find("arg0_1:"), 7, "arg1_1: \"Sym(s77)\", arg0_1:");
  const auto found = findings(LogOf().graph("aot_inference_graph", softmaxGraph("-1")),
                              LogOf().graph("aot_inference_graph", symbolic));
  const auto inputs = ofKind(found, "input");
  ASSERT_EQ(inputs.size(), 1U) << found.dump(1);
  EXPECT_EQ(inputs[0]["subject"], "arg0_1");
  EXPECT_EQ(inputs[0]["text"], "size 0 is symbolic now (8 → s77)");
}

TEST_F(CaptureFindingsTest, KernelsThatHoldOtherNodesAreNamed) {
  const std::string graph =
      "class <lambda>(torch.nn.Module):\n"
      "    def forward(self, arg0_1: \"f32[8][1]cpu\"):\n"
      "        add: \"f32[8][1]cpu\" = torch.ops.aten.add.Tensor(arg0_1, 1)\n"
      "        mul: \"f32[8][1]cpu\" = torch.ops.aten.mul.Tensor(add, 2)\n"
      "        return (mul,)\n";
  const auto kernel = [](const std::string& name) {
    return name + " = async_compile.cpp_pybinding(['const float*', 'float*'], r'''\nvoid kernel() {}\n''')\n\n";
  };
  const auto log = [&](const std::string& maps, const std::string& calls) {
    return LogOf()
        .artifact("inductor_post_grad_graph", graph)
        .artifact("inductor_provenance_tracking_node_mappings", maps)
        .record("inductor_output_code", R"({"filename": "c.py"})", "# AOT ID: ['0_inference']\n" + calls);
  };
  const auto found =
      findings(log(R"({"cppCodeToPost": {"cpp_fused_add_mul_0:1": ["add", "mul"]}, "version": 2.0})",
                   kernel("cpp_fused_add_mul_0") + "def call(args):\n    cpp_fused_add_mul_0(arg0_1, buf0)\n"),
               log(R"({"cppCodeToPost": {"cpp_fused_add_0:1": ["add"], "cpp_fused_mul_1:2": ["mul"]}, "version": 2.0})",
                   kernel("cpp_fused_add_0") + kernel("cpp_fused_mul_1") +
                       "def call(args):\n    cpp_fused_add_0(arg0_1, buf0)\n    cpp_fused_mul_1(buf0, buf1)\n"));
  const auto fusion = ofKind(found, "fusion");
  ASSERT_EQ(fusion.size(), 1U) << found.dump(1);
  EXPECT_EQ(fusion[0]["text"], "cpp_fused_add_mul → cpp_fused_add + cpp_fused_mul");
  EXPECT_EQ(fusion[0]["before"], 1);
  EXPECT_EQ(fusion[0]["after"], 2);
  EXPECT_THAT(fusion[0]["because"].dump(), HasSubstr("before cpp_fused_add_mul_0:1: add, mul"));
}

TEST_F(CaptureFindingsTest, DecompositionsAndSavedValuesThatChangedAreNamed) {
  const std::string program =
      "class GraphModule(torch.nn.Module):\n"
      "    def forward(self, L_x_: \"f32[8][1]cpu\"):\n"
      "         # File: m.py:3 in f, code: return silu(x)\n"
      "        y: \"f32[8][1]cpu\" = torch.nn.functional.silu(L_x_)\n"
      "        return (y,)\n";
  const std::string head =
      "class joint_helper(torch.nn.Module):\n"
      "    def forward(self, primals_1: \"f32[8][1]cpu\", tangents_1: \"f32[8][1]cpu\"):\n"
      "         # File: m.py:3 in f, code: return silu(x)\n";
  const std::string written = head +
                              "        sigmoid: \"f32[8][1]cpu\" = torch.ops.aten.sigmoid.default(primals_1)\n"
                              "        mul: \"f32[8][1]cpu\" = torch.ops.aten.mul.Tensor(primals_1, sigmoid)\n"
                              "        return (mul,)\n";
  const std::string kept = head +
                           "        neg: \"f32[8][1]cpu\" = torch.ops.aten.neg.default(primals_1)\n"
                           "        exp: \"f32[8][1]cpu\" = torch.ops.aten.exp.default(neg)\n"
                           "        add: \"f32[8][1]cpu\" = torch.ops.aten.add.Tensor(exp, 1)\n"
                           "        div: \"f32[8][1]cpu\" = torch.ops.aten.div.Tensor(primals_1, add)\n"
                           "        return (div,)\n";
  const auto backward = [](const std::string& saved) {
    return "class GraphModule(torch.nn.Module):\n"
           "    def forward(self, primals_1: \"f32[8][1]cpu\"" +
           saved +
           ", tangents_1: \"f32[8][1]cpu\"):\n"
           "        mul_1: \"f32[8][1]cpu\" = torch.ops.aten.mul.Tensor(tangents_1, primals_1)\n"
           "        return (mul_1,)\n";
  };
  const auto found = findings(LogOf()
                                  .graph("dynamo_output_graph", program)
                                  .graph("aot_joint_graph", written)
                                  .graph("aot_backward_graph", backward("")),
                              LogOf()
                                  .graph("dynamo_output_graph", program)
                                  .graph("aot_joint_graph", kept)
                                  .graph("aot_backward_graph", backward(", add: \"f32[8][1]cpu\"")));
  const auto decompositions = ofKind(found, "decomposition");
  ASSERT_EQ(decompositions.size(), 1U) << found.dump(1);
  EXPECT_EQ(decompositions[0]["subject"], "silu");
  EXPECT_EQ(decompositions[0]["text"], "became sigmoid, mul and now becomes neg, exp, add, div");
  const auto saved = ofKind(found, "saved");
  ASSERT_EQ(saved.size(), 1U) << found.dump(1);
  EXPECT_EQ(saved[0]["text"], "3.2e-05 MB in 1 values → 6.4e-05 MB in 2 values");
  EXPECT_EQ(saved[0]["because"], json::array({"now saved add: f32[8]"}));
}

TEST_F(CaptureFindingsTest, StatusComesFirstAndTimesLast) {
  const auto log = [](double seconds, const std::string& failure) {
    return LogOf()
        .graph("aot_inference_graph", softmaxGraph("-1"))
        .record("compilation_metrics",
                R"({"co_name": "f", "entire_frame_compile_time_s": )" + std::to_string(seconds) + R"(, "fail_type": )" +
                    failure + "}",
                "");
  };
  const auto found = findings(log(1.0, "null"), log(2.5, "\"InductorError\""));
  ASSERT_EQ(found.size(), 2U) << found.dump(1);
  EXPECT_EQ(found[0]["kind"], "status");
  EXPECT_EQ(found[0]["text"], "ok → failed");
  EXPECT_EQ(found[1]["kind"], "time");
  EXPECT_EQ(found[1]["text"], "1 s → 2.5 s");
  EXPECT_TRUE(findings(log(1.0, "null"), log(1.01, "null"), 0).empty()) << "no more than runs differ by";
}

}  // namespace
}  // namespace kerf::cli
