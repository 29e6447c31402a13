// CompileLog: what a trace says beside its graphs, out of a log that has every kind of record.
#include <algorithm>

#include <boost/algorithm/string/replace.hpp>

#include "engine/capture/trace/compile_answer.h"
#include "tests/unit/capture_trace_testing.h"

namespace kerf {
namespace {

using testing::frame00;
using testing::reluReadable;
using testing::TemporaryFolder;
using testing::traceRecord;

struct ReadLog {
  Capture capture;
  CompileLog log;

  const CompileStory& story(std::string_view id, int rank = -1) const {
    for (std::size_t i = 0; i < log.compiles.size(); ++i)
      if (capture.details->compiles[i].id == id && (rank < 0 || capture.details->compiles[i].rank == rank))
        return log.compiles[i];
    throw std::runtime_error("no compile id " + std::string(id));
  }
  std::vector<std::string> answer() const {
    std::vector<std::string> texts;
    for (const AnswerLine& line : compileAnswer(log, *capture.details, rankTable(log, *capture.details)))
      texts.push_back(line.text);
    return texts;
  }
};

ReadLog readLog(Result<Capture> capture) {
  if (!capture) throw std::runtime_error(capture.error().text());
  auto log = readCompileLog(*capture);
  if (!log) throw std::runtime_error(log.error().text());
  return {std::move(*capture), std::move(*log)};
}

ReadLog everyKind() {
  return readLog(importTorchTrace(
      std::filesystem::path(KERF_SOURCE_DIR) / "tests" / "fuzz" / "seeds" / "torch_trace" / "compile_log.log", {}, {}));
}

TEST(CompileLog, TellsWhyAFrameWasCompiledAgain) {
  const ReadLog read = everyKind();
  const auto& causes = read.story("[0/2]").causes;
  ASSERT_EQ(causes.size(), 2u);
  EXPECT_EQ(causes[0].from, "[0/1]");
  EXPECT_EQ(causes[0].subject, "x.size(0)");
  EXPECT_EQ(causes[0].before, "5");
  EXPECT_EQ(causes[0].after, "7");
  EXPECT_EQ(causes[0].where, "model.py:12 in forward: x = x.relu()");
  EXPECT_EQ(causes[1].from, "[0/0]");
  ASSERT_EQ(read.story("[0/3]").causes.size(), 1u) << "compilation_metrics alone tell of it";
  EXPECT_EQ(read.story("[0/3]").causes[0].subject, "the identity of fn");
  EXPECT_EQ(read.story("[0/1]").causes.size(), 1u) << "the artifact and the metrics say the same";
}

TEST(CompileLog, MarksTheGuardsThatFailed) {
  const ReadLog read = everyKind();
  const auto& guards = read.story("[0/0]").guards;
  ASSERT_EQ(guards.size(), 3u);
  EXPECT_EQ(guards[0].kind, "GLOBAL_STATE");
  EXPECT_EQ(guards[0].source, "");
  EXPECT_TRUE(guards[0].failedFor.empty());
  EXPECT_EQ(guards[1].kind, "TENSOR_MATCH");
  EXPECT_EQ(guards[1].source, "L['x']");
  EXPECT_EQ(guards[1].failedFor, (std::vector<std::string>{"[0/1]", "[0/2]"}));
  EXPECT_EQ(guards[2].where, "model.py:14 in forward: return fn(x)");
  EXPECT_EQ(guards[2].failedFor, std::vector<std::string>{"[0/3]"});
  EXPECT_EQ(read.story("[0/1]").guards[1].failedFor, std::vector<std::string>{"[0/2]"});
}

TEST(CompileLog, TellsGraphBreaksFromRestarts) {
  const ReadLog read = everyKind();
  const auto& breaks = read.story("[1/0]").breaks;
  ASSERT_EQ(breaks.size(), 1u);
  EXPECT_EQ(breaks[0].reason, "Data-dependent branching");
  EXPECT_EQ(breaks[0].where, "/home/user/train.py:41 in loss") << "the user's line, not the compiler's";
  EXPECT_EQ(breaks[0].code, "if x.sum() > 0:");
  EXPECT_FALSE(breaks[0].implied);
  const auto& restarts = read.story("[1/0_1]").restarts;
  ASSERT_EQ(restarts.size(), 2u);
  EXPECT_TRUE(restarts[0].isBreak);
  EXPECT_FALSE(restarts[1].isBreak);
  EXPECT_EQ(restarts[1].reason, "'skip function graph_break'");
}

TEST(CompileLog, KeepsAFailureOnceWithItsTracebackAndPlace) {
  const ReadLog read = everyKind();
  const auto& failures = read.story("[2/0]").failures;
  ASSERT_EQ(failures.size(), 1u);
  EXPECT_EQ(failures[0].type, "torch._dynamo.exc.Unsupported");
  EXPECT_EQ(failures[0].reason, "Observed exception");
  EXPECT_EQ(failures[0].where, "/home/user/train.py:51");
  EXPECT_TRUE(failures[0].trace.starts_with("Traceback (most recent call last):")) << failures[0].trace;
}

TEST(CompileLog, SaysWhatMadeACacheKeyAnotherOne) {
  const ReadLog read = everyKind();
  const auto& first = read.story("[0/0]").caches;
  ASSERT_EQ(first.size(), 2u);
  EXPECT_EQ(first[0].cache, "fx_graph");
  EXPECT_EQ(first[0].result, "miss");
  EXPECT_EQ(first[0].key, "fkey1");
  EXPECT_EQ(first[0].direction, "forward");
  EXPECT_EQ(first[1].result, "bypass");
  EXPECT_EQ(first[1].reason, "Unsupported call_function target <script>alert(1)</script>");
  ASSERT_EQ(read.story("[0/1]").caches.size(), 1u);
  EXPECT_EQ(read.story("[0/1]").caches[0].reason, "not as [0/0]: example_inputs[0]");
  ASSERT_EQ(read.story("[0/2]").caches.size(), 1u);
  EXPECT_EQ(read.story("[0/2]").caches[0].result, "hit");
  EXPECT_DOUBLE_EQ(read.story("[0/2]").caches[0].savedSeconds, 2.5);
}

TEST(CompileLog, TellsTheLifeOfSizesWithTheUsersStack) {
  const ReadLog read = everyKind();
  const auto& symbols = read.story("[0/0]").symbols;
  ASSERT_EQ(symbols.size(), 3u);
  EXPECT_EQ(symbols[0].kind, "created");
  EXPECT_EQ(symbols[0].range, "[2, int_oo]");
  EXPECT_EQ(symbols[0].source, "L['y'].size()[0]");
  EXPECT_EQ(symbols[1].kind, "specialised");
  EXPECT_EQ(symbols[1].value, "2");
  EXPECT_EQ(read.log.innermost(symbols[1].user), "/home/user/<b>model</b>.py:13 in forward")
      << "interned names resolved";
  EXPECT_EQ(read.log.frames.frame(symbols[1].user.back()).code, "x = x + y");
  EXPECT_EQ(read.log.innermost(symbols[1].framework), "/home/user/train.py:80 in main");
  EXPECT_EQ(symbols[2].subject, "Eq(s0, 2)");
  EXPECT_EQ(read.story("(unknown)").symbols[0].kind, "unbacked");
}

TEST(CompileLog, ExplainsWhatExportDidNotKnow) {
  const ReadLog read = everyKind();
  const auto& problems = read.story("(unknown)").exports;
  ASSERT_EQ(problems.size(), 4u);
  EXPECT_EQ(problems[0].kind, "data-dependent error");
  EXPECT_EQ(problems[0].subject, "Eq(-u0, 0)");
  EXPECT_EQ(problems[0].origin,
            (std::vector<std::string>{"u0 at /home/user/<b>model</b>.py:20 in forward: a = x.item()",
                                      "-u0 (neg) at /home/user/<b>model</b>.py:21 in forward: a = -a"}));
  ASSERT_EQ(problems[0].locals.size(), 2u);
  EXPECT_EQ(problems[0].locals[1], (std::pair<std::string, std::string>("a", "-u0")));
  EXPECT_EQ(problems[1].kind, "guard evaluated");
  EXPECT_EQ(problems[2].subject, "mylib.foo");
  EXPECT_EQ(problems[3].kind, "mismatched fake kernel");
  EXPECT_EQ(problems[3].reason, "Dtypes differ");
}

TEST(CompileLog, LeadsKernelsBackToTheSourceLine) {
  const ReadLog read = everyKind();
  const auto& kernels = read.story("[0/0]").kernels;
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].kernel, "cpp_fused_relu_0");
  EXPECT_EQ(kernels[0].direction, "forward");
  EXPECT_EQ(kernels[0].postGradNodes, std::vector<std::string>{"relu"});
  EXPECT_EQ(kernels[0].preGradNodes, std::vector<std::string>{"x"});
  EXPECT_EQ(kernels[0].lines, std::vector<std::string>{"/home/user/model.py:12 in forward: x = x.relu()"});
  EXPECT_EQ(kernels[0].definedAt, std::vector<int>{3});
  EXPECT_EQ(kernels[0].calledAt, std::vector<int>{6});
  EXPECT_EQ(kernels[1].direction, "backward");
  ASSERT_GE(kernels[1].code, 0);
  EXPECT_EQ(read.capture.details->records[std::size_t(kernels[1].code)].name, "backward.py");
}

TEST(CompileLog, TellsForwardFromBackwardInNames) {
  const ReadLog read = everyKind();
  std::vector<std::string> names;
  for (const CapturedGraph& graph : read.capture.graphs)
    if (graph.name.contains("post_grad")) names.push_back(graph.name);
  EXPECT_EQ(names, (std::vector<std::string>{"before_post_grad_graph_forward", "inductor_post_grad_graph_forward",
                                             "before_post_grad_graph_backward", "inductor_post_grad_graph_backward"}));
  std::vector<std::string> directions;
  for (const LoggedCode& code : read.story("[0/0]").codes)
    if (code.isOutput) directions.push_back(code.direction);
  EXPECT_EQ(directions, (std::vector<std::string>{"forward", "backward"}));
}

TEST(CompileLog, ReadsMetricsEstimatesAndCollectives) {
  const ReadLog read = everyKind();
  const CompileStory& story = read.story("[0/0]");
  ASSERT_EQ(story.metrics.size(), 1u);
  EXPECT_DOUBLE_EQ(story.metrics[0].seconds("total"), 1.5);
  EXPECT_DOUBLE_EQ(story.metrics[0].seconds("inductor"), 0.75);
  EXPECT_DOUBLE_EQ(story.metrics[0].seconds("triton"), -1);
  EXPECT_EQ(story.metrics[0].field("guard_count"), "3");
  EXPECT_EQ(story.metrics[0].field("fail_type"), "") << "null is nothing";
  ASSERT_EQ(story.estimates.size(), 1u);
  EXPECT_DOUBLE_EQ(story.estimates[0].totalNs, 2.5e6);
  ASSERT_EQ(story.collectives.size(), 1u);
  EXPECT_EQ(story.collectives[0].ops[1], "torch.ops._c10d_functional.wait_tensor.default");
  EXPECT_EQ(story.collectives[0].direction, "backward");
  EXPECT_EQ(story.collectives[0].called, 2);
  EXPECT_EQ(story.collectives[0].waited, 1);
  EXPECT_EQ(story.collectives[0].unwaited(), 1);
  EXPECT_EQ(story.tensors, 1);
  ASSERT_EQ(story.links.size(), 2u);
  EXPECT_EQ(story.links[0].second, "https://example.org/<x>");
}

TEST(CompileLog, AnswersInSentences) {
  const auto answer = everyKind().answer();
  const auto has = [&](const std::string& text) { return std::ranges::find(answer, text) != answer.end(); };
  EXPECT_TRUE(
      has("2 recompiles because `x.size(0)` changed (2, 5 → 5, 7): [0/1] [0/2], b>.py:12; "
          "`torch._dynamo.mark_dynamic(x, 0)` before the call compiles it once"));
  EXPECT_TRUE(
      has("1 recompile because the identity of fn changed: [0/3], b>.py:12; functions and objects are compared by "
          "identity: keep one instead of making it anew for each call"));
  EXPECT_TRUE(has("1 graph break at train.py:41 (Data-dependent branching)"));
  EXPECT_TRUE(has("1 restart: [1/0_1] 'skip function graph_break'"));
  EXPECT_TRUE(has("1 failure: [2/0] torch._dynamo.exc.Unsupported: Observed exception at train.py:51"));
  EXPECT_TRUE(has("collectives that nothing waits for: 1 in [0/0]"));
  EXPECT_TRUE(has("the code calls other collectives than Inductor scheduled: 1 scheduled, 2 called in [0/0]"));
  EXPECT_TRUE(has("9.0 s in 6 compilations, the slowest [0/0] with 1.5 s"));
  EXPECT_EQ(answer.front(), "1 failure: [2/0] torch._dynamo.exc.Unsupported: Observed exception at train.py:51");
}

TEST(CompileLog, SaysThatACompilationWentWell) {
  const TemporaryFolder folder;
  const ReadLog read = readLog(testing::importTraceText(
      folder, traceRecord("\"dynamo_start\": {\"stack\": []}" + frame00) +
                  traceRecord("\"aot_inference_graph\": {}" + frame00, reluReadable) +
                  traceRecord("\"compilation_metrics\": {\"graph_op_count\": 1, \"duration_us\": 2000000}" + frame00)));
  EXPECT_EQ(read.answer(),
            (std::vector<std::string>{"no recompiles, graph breaks, restarts or failures", "2.0 s in 1 compilation"}));
}

TEST(CompileLog, TellsRunsOfOneIdApart) {
  const TemporaryFolder folder;
  std::string log;
  for (const char* result : {"miss", "hit"})
    log +=
        traceRecord("\"dynamo_start\": {\"stack\": []}" + frame00) +
        traceRecord(
            fmt::format("\"artifact\": {{\"name\": \"fx_graph_cache_{}\", \"encoding\": \"json\"}}", result) + frame00,
            "{\"key\": \"f1\", \"components\": []}");
  const ReadLog read = readLog(testing::importTraceText(folder, log));
  const auto& caches = read.story("[0/0]").caches;
  ASSERT_EQ(caches.size(), 2u);
  EXPECT_EQ(caches[0].result, "miss");
  EXPECT_EQ(caches[0].run, 1);
  EXPECT_EQ(caches[1].result, "hit");
  EXPECT_EQ(caches[1].run, 2);
}

TEST(CompileLog, InfersBreaksOfOlderLogsFromResumeFunctions) {
  const TemporaryFolder folder;
  const ReadLog read = readLog(testing::importTraceText(
      folder,
      traceRecord("\"compilation_metrics\": {\"co_name\": \"torch_dynamo_resume_in_step_at_41\", \"co_filename\": "
                  "\"/p/train.py\", \"graph_op_count\": 1}" +
                  frame00)));
  ASSERT_EQ(read.story("[0/0]").breaks.size(), 1u);
  EXPECT_TRUE(read.story("[0/0]").breaks[0].implied);
  EXPECT_EQ(read.story("[0/0]").breaks[0].where, "/p/train.py:41 in step");
}

std::string rankLog(int rank, const std::string& size, const std::string& cache, const std::string& collectives) {
  const std::string where = fmt::format(", \"rank\": {}", rank) + frame00;
  std::string graph = boost::replace_all_copy(std::string(reluReadable), "[2, 3]", size);
  boost::replace_all(graph, "cpu", fmt::format("cuda:{}", rank));
  return traceRecord("\"dynamo_output_graph\": {}" + where, graph) +
         traceRecord(
             "\"dynamo_cpp_guards_str\": {}" + where,
             fmt::format("+- RootGuardManager\n| +- ID_MATCH: ___check_obj_id(L['fn'], 1398706598129{})", rank)) +
         traceRecord("\"artifact\": {\"name\": \"inductor_collective_schedule\", \"encoding\": \"json\"}" + where,
                     collectives) +
         traceRecord("\"artifact\": {\"name\": \"fx_graph_cache_" + cache + "\", \"encoding\": \"json\"}" + where,
                     "{\"key\": \"k\"}");
}

TEST(RankTable, NamesWhereRanksDiverge) {
  const TemporaryFolder folder;
  const std::string both = R"(["all_reduce", "wait_tensor"])";
  for (const int rank : {0, 1, 2})
    testing::writeFile(
        folder.path() / fmt::format("dedicated_log_torch_trace_rank_{}_x.log", rank),
        rank < 2 ? rankLog(rank, "[2, 3]", "hit", both) : rankLog(rank, "[5, 3]", "miss", R"(["all_reduce"])"));
  const ReadLog read = readLog(importTorchTrace(folder.path(), {}, {}));
  const RankTable table = rankTable(read.log, *read.capture.details);
  EXPECT_EQ(table.ranks, (std::vector<int>{0, 1, 2}));
  ASSERT_EQ(table.rows.size(), 1u);
  std::vector<std::string> kinds;
  for (const RankDivergence& divergence : table.divergences) {
    kinds.push_back(divergence.kind);
    EXPECT_EQ(divergence.odd(), std::vector<int>{2}) << divergence.kind;
  }
  EXPECT_EQ(kinds, (std::vector<std::string>{"different graph", "different collective schedule", "missing cache hit",
                                             "missing waits"}))
      << "guards differ in addresses alone, devices in their numbers";
  EXPECT_EQ(ranksText({0, 2, 3}), "ranks 0, 2 and 3");
}

TEST(RankTable, IsEmptyForOneRank) {
  const ReadLog read = everyKind();
  EXPECT_TRUE(rankTable(read.log, *read.capture.details).ranks.empty());
}

TEST(CompileLog, ReadsBrokenRecordsWithoutLosingTheOthers) {
  const TemporaryFolder folder;
  const std::string cid = frame00;
  const ReadLog read = readLog(testing::importTraceText(
      folder,
      traceRecord("\"artifact\": {\"name\": \"recompile_reasons\"}" + cid, "[\"0/0: len(L['x']) == 3\", 7, {\"a\": ") +
          traceRecord("\"artifact\": {\"name\": \"fx_graph_cache_miss\"}" + cid, "no json") +
          traceRecord("\"dynamo_cpp_guards_str\": {}" + cid, "+- \n| +- : \n| | | +- X_MATCH: x\n+-") +
          traceRecord("\"artifact\": {\"name\": \"inductor_runtime_and_tensor_meta\"}" + cid,
                      "{\"ops\": [1, null, {}]}") +
          traceRecord("\"guard_added\": 7" + cid) + traceRecord("\"compilation_metrics\": []" + cid) +
          traceRecord("\"propagate_real_tensors_provenance\": {\"expr\": \"Eq(u0, 0)\", \"expr_node_id\": 1}" + cid) +
          traceRecord("\"expression_created\": {\"result_id\": 1, \"argument_ids\": [1], \"result\": \"u0\"}" + cid)));
  const CompileStory& story = read.story("[0/0]");
  ASSERT_EQ(story.causes.size(), 1u);
  EXPECT_EQ(story.causes[0].subject, "len(x)");
  EXPECT_EQ(story.causes[0].before, "3");
  ASSERT_EQ(story.caches.size(), 1u);
  EXPECT_EQ(story.caches[0].key, "");
  EXPECT_EQ(story.guards.size(), 1u);
  EXPECT_EQ(story.exports.size(), 1u);
  EXPECT_EQ(story.estimates.size(), 1u);
}

}  // namespace
}  // namespace kerf
