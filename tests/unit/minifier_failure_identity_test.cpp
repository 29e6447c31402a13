// What tells one failure from another: masks, tracebacks, the ways to match, what a verdict's key depends on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "engine/process/temporary_folder.h"
#include "minifier/core/failure_match.h"
#include "minifier/oracle/command_files.h"
#include "minifier/oracle/command_oracle.h"
#include "minifier/oracle/judging_environment.h"
#include "minifier/oracle/message_mask.h"
#include "minifier/oracle/python_failure.h"
#include "tests/support/cpu_time.h"
#include "tests/support/minifier_graphs.h"

namespace kerf {
namespace {

using namespace kerf::testing;
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

TEST(MessageMask, NumbersListsAndSizesDoNotCount) {
  EXPECT_EQ(maskedMessage("mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)"),
            "mat1 and mat2 shapes cannot be multiplied (N and N)");
  EXPECT_EQ(maskedMessage("expected [1, 2, 3] but got (4,)"), "expected [N] but got (N)");
  EXPECT_EQ(maskedMessage("0.342 > 1e-05, tensor([1., -2.5e-3])"), "N > N, tensor([N])");
  EXPECT_EQ(maskedMessage("got -1"), maskedMessage("got 7"));
}

TEST(MessageMask, PathsHashesAndTemporaryNamesDoNotCount) {
  EXPECT_EQ(maskedMessage("/tmp/torchinductor_me/ab/cabc.cpp:12:5: error: 'buf12' was not declared"),
            "PATH: error: 'buf' was not declared");
  EXPECT_EQ(maskedMessage("File \"/x/y.py\", line 12"), "File \"PATH\", line N");
  EXPECT_EQ(maskedMessage("graph 3f9ac01bdd"), "graph HASH");
  EXPECT_EQ(maskedMessage("arg3_1 primals_7 s0 add_12_1"), "arg primals s add");
  EXPECT_EQ(maskedMessage("in triton_poi_fused_add_relu_0"), maskedMessage("in triton_poi_fused_relu_4"));
}

TEST(MessageMask, OpsAndTypesCount) {
  EXPECT_EQ(maskedMessage("aten.conv2d float16 log10 float8_e4m3fn"), "aten.conv2d float16 log10 float8_e4m3fn");
  EXPECT_NE(maskedMessage("unsupported float16"), maskedMessage("unsupported float32"));
  EXPECT_NE(maskedMessage("aten.relu.default failed"), maskedMessage("aten.tanh.default failed"));
}

TEST(MessageMask, SetsHaveNoOrder) {
  EXPECT_EQ(maskedMessage("free {'b', 'a'}"), maskedMessage("free {'a', 'b'}"));
  EXPECT_EQ(maskedMessage("{'c': [3, 4], 'a': 2}"), "{'a': N, 'c': [N]}");
  EXPECT_EQ(maskedMessage("{1, 2}"), maskedMessage("{7}"));
  EXPECT_NE(maskedMessage("free {'b', 'a'}"), maskedMessage("free {'b', 'c'}"));
  EXPECT_EQ(maskedMessage("{}}}{{{"), "{}}}{{{");
}

constexpr std::string_view compilerTraceback =
    "warming\nTraceback (most recent call last):\n  File \"/a/b.py\", line 3, in <module>\n    main()\n    ~~~~^^\n"
    "  File \"/a/c.py\", line 9, in lower_relu\n    raise X\n"
    "torch._inductor.exc.InductorError: CppCompileError: C++ compile error\n\nCommand:\ng++ /tmp/x.cpp\n\nOutput:\n"
    "/tmp/x/ab.main.cpp: In function 'void kernel(float*)':\n"
    "/tmp/x/ab.main.cpp:12:33: error: 'tmp7' was not declared\nSet TORCHDYNAMO_VERBOSE=1\n";

TEST(PythonFailure, IsTheLastTracebackOfWhatWasPrinted) {
  const auto failure = lastTraceback(compilerTraceback);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->exception, "InductorError");
  EXPECT_EQ(failure->frames, (std::vector<std::string>{"lower_relu", "<module>"}));
  EXPECT_EQ(pythonFingerprint(*failure), "InductorError:error: 'tmp' was not declared@lower_relu");
  const auto chained =
      lastTraceback(std::string(compilerTraceback) +
                    "\nDuring handling of the above exception, another exception occurred:\n\n"
                    "Traceback (most recent call last):\n  File \"a\", line 1, in g\nAssertionError\n");
  EXPECT_EQ(pythonFingerprint(*chained), "AssertionError@g");
  EXPECT_FALSE(lastTraceback("no such thing"));
  EXPECT_EQ(pythonFingerprint(*lastTraceback("Traceback (most recent call last):\n")), "exception");
}

TEST(PythonFailure, NamesTheOpOfALoweringAndTheEndOfTritonsMessage) {
  EXPECT_EQ(tellingLine("RuntimeError: bad\n  target: aten.relu.default\n  args[0]: TensorBox"),
            "RuntimeError: bad (target: aten.relu.default)");
  EXPECT_EQ(tellingLine("at 12:4:\n  x = y\n   ^\nValueError('boom')\n"), "ValueError('boom')");
  EXPECT_EQ(lastTellingLine("bad thing\n/a.py:1: UserWarning: foo\n  warnings.warn(x)\n"), "bad thing");
  EXPECT_EQ(lastTellingLine("10%\r50%\rdone"), "done");
}

TEST(FailureMatch, SameIsTheFingerprintAndNothingElse) {
  const FailureMatch same;
  EXPECT_TRUE(same.accepts("accuracy:nan", "", "accuracy:nan"));
  EXPECT_FALSE(same.accepts("accuracy:inf", "", "accuracy:nan"));
  EXPECT_TRUE(same.acceptsAsStart("anything", ""));
  EXPECT_EQ(same.text(), "");
}

TEST(AccuracyIdentity, IsReadFromItsText) {
  const std::pair<const char*, AccuracyIdentity> rows[] = {
      {"accuracy:magnitude:aten.relu.default:10^3", {"magnitude", "aten.relu.default", 3}},
      {"accuracy:mutation:magnitude:10^-1", {"mutation:magnitude", "", -1}},
      {"accuracy:nan:higher_order.cond", {"nan", "higher_order.cond", {}}},
      {"accuracy:alias", {"alias", "", {}}}};
  for (const auto& [text, identity] : rows) {
    EXPECT_EQ(AccuracyIdentity::parse(text), identity) << text;
    EXPECT_EQ(identity.text(), text);
  }
  EXPECT_FALSE(AccuracyIdentity::parse("accuracy:guessed"));
  EXPECT_FALSE(AccuracyIdentity::parse("crash:SIGSEGV:run"));
  EXPECT_EQ(failureName(rows[0].first), "accuracy:magnitude:aten.relu.default");
  EXPECT_EQ(failureKind(rows[0].first), "accuracy:magnitude");
  EXPECT_EQ(failureName("crash:SIGSEGV:run"), "crash:SIGSEGV:run");
  EXPECT_EQ(decadeOf(1234), 3);
  EXPECT_EQ(decadeOf(0.5), -1);
  EXPECT_FALSE(decadeOf(0));
}

/// x → relu → tanh → returned, x → neg → returned: the wrong value is tanh's.
TEST(AccuracyIdentity, AnotherOpMustBeOnTheWayOrAsWrong) {
  GraphModule module;
  Graph& graph = module.graph;
  const NodeId x = graph.placeholder("x");
  const NodeId relu = graph.callFunction("torch.ops.aten.relu.default", {x});
  const NodeId tanh = graph.callFunction("torch.ops.aten.tanh.default", {relu});
  const NodeId neg = graph.callFunction("torch.ops.aten.neg.default", {x});
  graph.output(Argument::tuple({tanh, neg}));
  const WantedFailure wanted = wantedIn(module, "accuracy:magnitude:aten.tanh.default:10^5", 7);
  EXPECT_EQ(wanted.elsewhere, (std::set<std::string, std::less<>>{"aten.neg.default"}));
  const std::pair<const char*, bool> rows[] = {
      {"accuracy:magnitude:aten.tanh.default:10^0", true},   // the same op: values that are simpler change the ratio
      {"accuracy:magnitude:aten.relu.default:10^9", true},   // nearer to the source
      {"accuracy:magnitude:aten.relu.default:10^2", true},   // as far as an error grows on its way
      {"accuracy:magnitude:aten.relu.default:10^1", false},  // too little to be what was seen
      {"accuracy:magnitude:aten.mul.Tensor:10^2", true},     // in the place of another
      {"accuracy:magnitude:aten.mul.Tensor:10^1", false},
      {"accuracy:magnitude:aten.neg.default:10^4", true},  // elsewhere, but as wrong
      {"accuracy:magnitude:aten.neg.default:10^7", false},
      {"accuracy:magnitude:aten.neg.default:10^3", false},
      {"accuracy:nan:aten.tanh.default", false},
      {"crash:SIGSEGV:run", false}};
  const FailureMatch same;
  EXPECT_TRUE(same.accepts("accuracy:magnitude:10^0", "", wanted));  // of PyTorch's same() no op is known
  EXPECT_TRUE(same.accepts("accuracy:magnitude:aten.relu.default:10^0", "",
                           wantedIn(module, "accuracy:magnitude:aten.tanh.default:10^5")));  // that is the start
  for (const auto& [found, isSame] : rows) EXPECT_EQ(same.accepts(found, "", wanted), isSame) << found;
  const WantedFailure nan = wantedIn(module, "accuracy:nan:aten.tanh.default");
  EXPECT_TRUE(same.accepts("accuracy:nan:aten.relu.default", "", nan));
  EXPECT_FALSE(same.accepts("accuracy:nan:aten.neg.default", "", nan));
}

TEST(AccuracyIdentity, WhatWritesIntoMemoryIsOnTheWay) {
  GraphModule module;
  Graph& graph = module.graph;
  const NodeId x = graph.placeholder("x"), y = graph.placeholder("y");
  const NodeId sin = graph.callFunction("torch.ops.aten.sin.default", {y});
  graph.callFunction("torch.ops.aten.copy_.default", {x, sin});
  const NodeId neg = graph.callFunction("torch.ops.aten.neg.default", {x});
  const NodeId cos = graph.callFunction("torch.ops.aten.cos.default", {y});
  graph.output(Argument::tuple({neg, cos}));
  const WantedFailure wanted = wantedIn(module, "accuracy:magnitude:aten.neg.default:10^2");
  EXPECT_EQ(wanted.elsewhere, (std::set<std::string, std::less<>>{"aten.cos.default"}));
}

TEST(FailureMatch, SaysItsRule) {
  const FailureMatch same;
  EXPECT_EQ(same.rule("crash:SIGSEGV:run"), "the same fingerprint");
  EXPECT_NE(same.rule("accuracy:magnitude").find("at most 5 powers of ten below that of the start"), std::string::npos);
  EXPECT_EQ(FailureMatch::any().rule(""), "any failure");
  EXPECT_EQ(FailureMatch::pattern("a.b").value().rule(""), "fingerprint or detail matches /a.b/");
}

TEST(FailureMatch, PatternsAreFoundInFingerprintAndDetail) {
  const auto match = FailureMatch::pattern(R"(^accuracy:(nan|inf)|relu, \d+ times)");
  ASSERT_TRUE(match.has_value()) << match.error().text();
  EXPECT_TRUE(match->accepts("accuracy:inf", "", "accuracy:nan"));
  EXPECT_TRUE(match->accepts("accuracy:magnitude", "of relu, 12 times the limit", ""));
  EXPECT_FALSE(match->accepts("accuracy:magnitude", "of tanh, 12 times the limit", "accuracy:magnitude"));
  EXPECT_FALSE(match->acceptsAsStart("crash:SIGSEGV", ""));
  EXPECT_TRUE(FailureMatch::pattern("b").value().accepts(std::string_view("a\0b", 3), "", ""));
  EXPECT_TRUE(FailureMatch::any().accepts("crash:SIGSEGV", "", "accuracy:nan"));
  EXPECT_NE(FailureMatch::any().text(), match->text());
}

TEST(FailureMatch, RefusesWhatIsNoExpressionOrCouldTakeForEver) {
  EXPECT_EQ(FailureMatch::pattern("(a").error().code, ErrorCode::BadUsage);
  EXPECT_EQ(FailureMatch::pattern(R"((a*)*\1b)").error().code, ErrorCode::BadUsage);
  EXPECT_EQ(FailureMatch::pattern(std::string(2000, 'a')).error().code, ErrorCode::BadUsage);
  const auto nested = FailureMatch::pattern("^(a|aa)*(a*)*b$");  // exponential for those that go back
  ASSERT_TRUE(nested.has_value());
  const auto search = [&] { EXPECT_FALSE(nested->accepts(std::string(1u << 20, 'a'), "", "")); };
  EXPECT_LT(cpuSecondsOf(search), 20);
}

Verdict judgedBy(const std::string& command) {
  Capture like;
  like.kind = "repro";
  like.graphs.resize(1);
  CommandOracle oracle({.command = command, .timeout = std::chrono::minutes(10)}, like, 0);
  const auto verdict = oracle.judge(mlp(2, 1), {});
  EXPECT_TRUE(verdict.has_value()) << verdict.error().text();
  return verdict.value_or(Verdict{});
}

TEST(CommandIdentity, IsTheCodeAndTheEndOfTheErrors) {
  EXPECT_EQ(judgedBy("exit 3; #").fingerprint, "command:exit 3");
  EXPECT_EQ(judgedBy("echo on stdout; exit 3; #").fingerprint, "command:exit 3");
  const auto verdict = judgedBy("echo 'relu_3: off by 0.25' >&2; exit 3; #");
  EXPECT_EQ(verdict.fingerprint, "command:exit 3:relu: off by N");
  EXPECT_THAT(verdict.detail, HasSubstr("relu_3: off by 0.25"));
  EXPECT_EQ(judgedBy("echo noise >&2; exit 0; #").kind, VerdictKind::Passes);
}

TEST(CommandIdentity, OfPythonIsTheExceptionAndWhoRaisedIt) {
  const std::string raise =
      "python3 -c \"\ndef lower(n):\n    raise ValueError('size %d of buf%d' % (n, n))\n"
      "lower(len(open({}).read()))\" ; #";
  EXPECT_EQ(judgedBy("python3 -c 'raise SystemExit(4)'; #").fingerprint, "command:exit 4");
  const auto verdict = judgedBy(raise.substr(0, raise.size() - 4));
  EXPECT_EQ(verdict.fingerprint, "command:exit 1:ValueError:size N of buf@lower");
  EXPECT_THAT(verdict.detail, HasSubstr("in lower < <module>"));
}

TEST(CommandFiles, AreTheScriptsThatACommandNames) {
  const auto folder = TemporaryFolder::create();
  ASSERT_TRUE(folder.has_value());
  const fs::path& here = folder->path();
  for (const char* name : {"check.sh", "check.py", "data", "log", "relu", "repro.py"})
    std::ofstream(here / name) << name;
  EXPECT_EQ(commandFromAnywhere("./check.sh -x", here), fmt::format("'{}/check.sh' -x", here.string()));
  EXPECT_EQ(commandFromAnywhere("python3 check.py {}", here), fmt::format("python3 '{}/check.py' {{}}", here.string()));
  EXPECT_EQ(commandFromAnywhere("! grep -q relu {} && python3 repro.py", here),
            "! grep -q relu {} && python3 repro.py");
  const auto before = hashOfCommandFiles("sh './check.sh' data > log", here);
  std::ofstream(here / "log") << "another";
  EXPECT_EQ(hashOfCommandFiles("sh './check.sh' data > log", here), before);
  std::ofstream(here / "data") << "another";
  const auto after = hashOfCommandFiles("sh './check.sh' data > log", here);
  EXPECT_NE(after, before);
  std::ofstream(here / "check.sh") << "exit 1";
  EXPECT_NE(hashOfCommandFiles("sh './check.sh' data > log", here), after);
}

TEST(JudgingEnvironment, IsThatOfCompilersAndNotOfTheShell) {
  const std::string before = environmentIdentity();
  ::setenv("KERF_TEST_UNRELATED", "1", 1);
  ::setenv("TORCHINDUCTOR_CACHE_DIR", "/tmp/elsewhere", 1);
  EXPECT_EQ(environmentIdentity(), before);
  ::setenv("TORCHINDUCTOR_MAX_AUTOTUNE", "1", 1);
  EXPECT_NE(environmentIdentity(), before);
  for (const char* name : {"KERF_TEST_UNRELATED", "TORCHINDUCTOR_CACHE_DIR", "TORCHINDUCTOR_MAX_AUTOTUNE"})
    ::unsetenv(name);
  EXPECT_EQ(environmentIdentity(), before);
  EXPECT_GE(programIdentity().size(), 16u);
}

TEST(LauncherIdentity, IsWhatStandsAroundTheGraph) {
  Capture like;
  like.envelope.headerLines = {"import torch", "# torch version: 2.11.0", "os.environ['TRITON_CACHE_DIR'] = '/tmp/a'"};
  like.envelope.runOptions = {{"accuracy", "False"}};
  const std::string before = launcherIdentity(like, 0);
  like.envelope.headerLines[1] = "# written by another program";
  like.envelope.headerLines[2] = "os.environ['TRITON_CACHE_DIR'] = '/tmp/b'";
  EXPECT_EQ(launcherIdentity(like, 0), before);
  Capture configured = like, accurate = like;
  configured.envelope.configLines.push_back("torch._inductor.config.triton.inject_relu_bug_TESTING_ONLY = 'accuracy'");
  accurate.envelope.runOptions = {{"accuracy", "True"}};
  EXPECT_NE(launcherIdentity(configured, 0), before);
  EXPECT_NE(launcherIdentity(accurate, 0), before);
  like.graphs.emplace_back().envelope = std::make_shared<const ReproEnvelope>(configured.envelope);
  EXPECT_EQ(launcherIdentity(like, 0), launcherIdentity(configured, 0)) << "a graph's own text counts";
}

}  // namespace
}  // namespace kerf
