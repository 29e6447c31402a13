// Fingerprints, command oracles and reports.
#include <gtest/gtest.h>

#include <unistd.h>
#include <cmath>

#include <filesystem>
#include <fstream>
#include <limits>
#include <thread>

#include "minifier/core/verdict_cache.h"
#include "minifier/oracle/command_oracle.h"
#include "minifier/oracle/verdict_fingerprint.h"
#include "minifier/reductions/reductions.h"
#include "minifier/report/minify_report.h"
#include "tests/support/minifier_graphs.h"

namespace kerf {
namespace {

using namespace kerf::testing;

TEST(Fingerprint, MasksWhatChangesFromGraphToGraph) {
  EXPECT_EQ(maskedMessage("relu_12: bad stride 128 at 0x7f00ab12"), "relu: bad stride N at ADDR");
  EXPECT_EQ(maskedMessage("relu_12: bad"), maskedMessage("relu_3: bad"));
  EXPECT_EQ(maskedMessage("a\nb\tf32"), "a b f32");
  EXPECT_EQ(maskedMessage(std::string(1000, 'x')).size(), 200u);
}

TEST(Fingerprint, OfAnErrorNamesPhaseAndClass) {
  EXPECT_EQ(errorFingerprint("compile_error", Error{ErrorCode::CompileFailed, "relu_1: planted"}),
            "compile_error:compile_failed:relu: planted");
}

TEST(Fingerprint, OfAnAccuracyFailureIsItsGravestKind) {
  ComparisonReport report;
  report.outputs.resize(3);
  report.outputs[0].same = true;
  report.outputs[1].reason = "RMSE (res-fp64): 1, (ref-fp64): 0 and shape=(2,). res.dtype: torch.float32";
  report.outputs[2].same = true;
  EXPECT_EQ(accuracyFingerprint(report, Graph()), "accuracy:magnitude");
  report.outputs[2].same = false;
  report.outputs[2].nanRes = 2;
  EXPECT_EQ(accuracyFingerprint(report, Graph()), "accuracy:nan");
  report.outputs[1].reason = "Length mismatch";
  EXPECT_EQ(accuracyFingerprint(report, Graph()), "accuracy:shape");
  report.outputs[1].reason = "dtype mismatch torch.float32, torch.float16";
  EXPECT_EQ(accuracyFingerprint(report, Graph()), "accuracy:dtype");
  report.outputs.clear();
  report.same = true;
  EXPECT_EQ(accuracyFingerprint(report, Graph()), "");
}

// PyTorch's failure line mentions "dtype" itself; it must not be taken for a mismatch of dtypes.
TEST(Fingerprint, OfARealFailureLineIsMagnitude) {
  const Tensor ref = Tensor::scalar(1, DType::Float32), res = Tensor::scalar(2, DType::Float32);
  const Tensor fp64 = Tensor::scalar(1, DType::Float64);
  ComparisonReport report;
  report.outputs = same(ValueList{ref}, ValueList{res}, ValueList{fp64}, SameOptions{}).outputs;
  ASSERT_EQ(report.outputs.size(), 1u);
  EXPECT_NE(report.outputs[0].reason.find("res.dtype"), std::string::npos);
  EXPECT_TRUE(accuracyFingerprint(report, Graph()).starts_with("accuracy:magnitude:10^"));
  report.outputs = same(ValueList{Tensor::scalar(1, DType::Float64)}, ValueList{res}, Value(), SameOptions{}).outputs;
  EXPECT_EQ(accuracyFingerprint(report, Graph()), "accuracy:dtype");
}

Capture like() {
  Capture capture;
  capture.kind = "repro";
  capture.graphs.resize(1);
  capture.graphs[0].name = "forward";
  return capture;
}

Verdict judged(const std::string& command) {
  CommandOracle oracle({.command = command, .timeout = std::chrono::minutes(10)}, like(), 0);
  const auto verdict = oracle.judge(mlp(2, 1), {});
  EXPECT_TRUE(verdict.has_value()) << verdict.error().text();
  return verdict.value_or(Verdict{});
}

TEST(CommandOracle, ReadsExitCodesAsGitBisectDoes) {
  EXPECT_EQ(judged("true").kind, VerdictKind::Passes);
  EXPECT_EQ(judged("false").kind, VerdictKind::Fails);
  EXPECT_EQ(judged("false").fingerprint, "command:exit 1");
  EXPECT_EQ(judged("exit 125; #").kind, VerdictKind::CannotTest);
  EXPECT_EQ(judged("kill -SEGV $$; #").fingerprint, "command:signal 11");
}

TEST(CommandOracle, WritesTheReproAndItsStorages) {
  EXPECT_EQ(judged("grep -q relu").kind, VerdictKind::Passes);
  EXPECT_EQ(judged("test -d \"$(dirname {})\"/storages && grep -q addmm {}").kind, VerdictKind::Passes);
  EXPECT_EQ(judged("! grep -q relu {}").kind, VerdictKind::Fails);
}

TEST(CommandOracle, TheReproDoesNotStartPyTorchsMinifier) {
  Capture from = like();
  from.envelope.headerLines = {"import os", "os.environ['TORCHDYNAMO_REPRO_AFTER'] = 'aot'",
                               "os.environ['TORCHDYNAMO_REPRO_LEVEL'] = '4'", "torch._dynamo.config.repro_level = 4",
                               "os.environ['TORCH_LOGS'] = '+aot'"};
  const std::string check =
      "grep -q TORCH_LOGS {} && grep -q \"environ.pop('TORCHDYNAMO_REPRO_AFTER', None)\" {} && "
      "! grep -q \"REPRO_[A-Z]*'\\] =\" {} && ! grep -q config.repro {}";
  CommandOracle oracle({.command = check, .timeout = std::chrono::minutes(10)}, from, 0);
  const auto verdict = oracle.judge(mlp(2, 1), {});
  ASSERT_TRUE(verdict.has_value()) << verdict.error().text();
  EXPECT_EQ(verdict->kind, VerdictKind::Passes) << verdict->detail;
}

TEST(CommandOracle, LeavesNothingBehind) {
  const auto marker = std::filesystem::temp_directory_path() / fmt::format("kerf-command-test-{}", ::getpid());
  judged(fmt::format("pwd > {}; true", marker.string()));
  std::ifstream file(marker);
  std::string folder;
  ASSERT_TRUE(std::getline(file, folder));
  EXPECT_FALSE(std::filesystem::exists(folder));
  std::filesystem::remove(marker);
}

TEST(CommandOracle, AHangIsAVerdictAndStoppingEndsIt) {
  CommandOracle slow({.command = "sleep 60; #", .timeout = std::chrono::milliseconds(200)}, like(), 0);
  const auto verdict = slow.judge(mlp(2, 1), {});
  ASSERT_TRUE(verdict.has_value());
  EXPECT_EQ(verdict->fingerprint, "command:timeout");
  CommandOracle stopped({.command = "sleep 3600; #", .timeout = std::chrono::hours(1)}, like(), 0);
  std::stop_source source;
  std::jthread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    source.request_stop();
  });
  const auto cancelled = stopped.judge(mlp(2, 1), source.get_token());
  ASSERT_FALSE(cancelled.has_value());
  EXPECT_EQ(cancelled.error().code, ErrorCode::Cancelled);
}

TEST(CommandOracle, MinifiesWithAnyProgram) {
  CommandOracle oracle({.command = "! grep -q aten.relu {}", .timeout = std::chrono::minutes(10)}, like(), 0);
  MemoryVerdictCache cache;
  const auto result = minify(mlp(3, 1), oracle, cache, {}, {}, {});
  ASSERT_TRUE(result.has_value()) << result.error().text();
  EXPECT_EQ(result->candidate.module.graph.size(), 3u);
}

TEST(MinifyReport, TheReproDoesNotDumpAnotherOne) {
  MinifyResult result;
  result.candidate = mlp(2, 1);
  Capture from = like();
  from.envelope.headerLines = {"import os", "os.environ['TORCHDYNAMO_REPRO_AFTER'] = 'aot'",
                               "os.environ['TORCHDYNAMO_REPRO_LEVEL'] = '4'", "os.environ['TORCH_LOGS'] = '+aot'"};
  const auto capture = minifiedCapture(result, from, 0, {"launcher.py", "", "engine"});
  ASSERT_TRUE(capture.has_value()) << capture.error().text();
  const auto& header = capture->envelope.headerLines;
  EXPECT_EQ(std::vector(header.end() - 3, header.end()),
            (std::vector<std::string>{"os.environ.pop('TORCHDYNAMO_REPRO_AFTER', None)",
                                      "os.environ.pop('TORCHDYNAMO_REPRO_LEVEL', None)",
                                      "os.environ['TORCH_LOGS'] = '+aot'"}));
}

TEST(MinifyReport, TellsHowItWasFoundAndExportsTheGraph) {
  GraphOracle oracle([](const Candidate& candidate) {
    return calls(candidate.module.graph, reluTarget) ? fails("accuracy") : passes();
  });
  MemoryVerdictCache cache;
  const auto result = minify(mlp(4, 2), oracle, cache, {}, {}, {});
  ASSERT_TRUE(result.has_value());
  const MinifyReportContext context{"launcher.py\nimport os", "relu=accuracy", "engine"};
  const auto capture = minifiedCapture(*result, like(), 0, context);
  ASSERT_TRUE(capture.has_value()) << capture.error().text();
  ASSERT_EQ(capture->graphs.size(), 1u);
  EXPECT_EQ(capture->graphs[0].inputs.size(), 1u);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_TRUE(capture->envelope.headerLines[i].starts_with("# ")) << i;
  EXPECT_EQ(capture->envelope.headerLines[1], "# from: launcher.py\\nimport os");
  EXPECT_EQ(capture->envelope.headerLines[0], "# Minified by Kerf: 22 -> 3 nodes: accuracy; 1-minimal");
  MinifyReportContext resumed = context;
  resumed.startNodes = 40;
  const auto again = minifiedCapture(*result, like(), 0, resumed);
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->envelope.headerLines[0], "# Minified by Kerf: 40 -> 3 nodes: accuracy; 1-minimal");
  const std::string report = minifyReport(*result, context);
  EXPECT_NE(report.find("| 0 | 1 | start | 22 |"), std::string::npos);
  EXPECT_NE(report.find("%relu"), std::string::npos);
}

}  // namespace
}  // namespace kerf
