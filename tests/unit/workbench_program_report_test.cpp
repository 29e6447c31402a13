// The report of a captured program out of its log, also out of logs that nobody's Kerf wrote.
#include <gtest/gtest.h>

#include "app/workbench/programs/stored_program.h"

namespace kerf::workbench {
namespace {

TEST(ProgramReport, LinksFramesGraphsBreaksAndRecompiles) {
  const ProgramReport report = programReport(R"json({
    "path": "/a/bug.py", "source": "import torch\n", "output": "1\n", "exit_status": 1, "line": 7,
    "exception": "ValueError: no", "kept_graphs": ["__compiled_fn_3"], "notes": ["a note"],
    "captured": {
      "frames": [{"frame": "f", "at": "bug.py:3", "id": "[0/0]", "runs": 2, "compile_ms": 1.5,
                  "calls": ["__compiled_fn_1", "__resume_at_66_2"],
                  "guards": [["EQUALS_MATCH", "EQUALS_MATCH: L['n'] == 3", "L['n']"]],
                  "guard_costs": [{"ns": 120.5, "asked": "bug.py:4 in f"}],
                  "bytecode": {"original": [[2, 4, "LOAD_FAST", "x", true]], "modified": []}},
                 {"frame": "f", "at": "bug.py:3", "id": "[0/1]", "calls": ["__compiled_fn_3"]}],
      "breaks": [{"type": "Data dependent operator", "id": "GB0033", "explanation": "why", "context": "c",
                  "hints": ["do this"], "stack": ["bug.py:12 in <module>", "other.py:1 in g"], "frame": 0}],
      "skips": [{"type": "Unsupported coroutine", "stack": ["bug.py:9"], "frame": -1}],
      "recompiles": [{"function": "f", "at": "bug.py:3", "guard": "n == 3", "frame": 1}],
      "graphs": [{"name": "__compiled_fn_1", "ran_by": "eager", "nodes": [["placeholder", "x", "x"], ["call_function", "mul", "m"]],
                  "stacks": [["bug.py:12 in <module>", "bug.py:4 in f", "lib.py:8 in g"]], "stack_of": [-1, 0]},
                 {"name": "__compiled_fn_3", "ran_by": "inductor", "nodes": []}]}})json");
  ASSERT_EQ(report.frames.size(), 2u);
  EXPECT_EQ(report.frames[0].line, 3);
  EXPECT_EQ(report.frames[0].runs, 2);
  EXPECT_EQ(report.frames[0].graphs, std::vector<int>{0});
  EXPECT_EQ(report.frames[0].guards[0].value, "L['n'] == 3");
  EXPECT_EQ(report.frames[0].guards[0].nanoseconds, 120.5);
  EXPECT_EQ(report.frames[0].guards[0].where, "bug.py:4 in f");
  EXPECT_EQ(report.frames[0].original[0].argument, "x");
  EXPECT_TRUE(report.frames[0].original[0].isTarget);
  EXPECT_EQ(report.frames[0].because, "");
  EXPECT_EQ(report.frames[1].because, "n == 3");
  ASSERT_EQ(report.breaks.size(), 2u);
  EXPECT_EQ(report.breaks[0].line, 12) << "the innermost line of the program itself";
  EXPECT_EQ(report.breaks[0].frame, 0);
  EXPECT_TRUE(report.breaks[1].isSkip);
  EXPECT_EQ(report.breaks[1].line, 9);
  EXPECT_EQ(report.recompiles[0].line, 3);
  ASSERT_EQ(report.graphs.size(), 2u);
  EXPECT_EQ(report.graphs[0].nodes[1].lines, (std::vector<std::int64_t>{12, 4}));
  EXPECT_TRUE(report.graphs[0].nodes[0].lines.empty());
  EXPECT_EQ(report.graphs[0].frame, 0);
  EXPECT_EQ(report.graphs[0].stored, -1);
  EXPECT_EQ(report.graphs[1].stored, 0);
  EXPECT_EQ(report.exitStatus, 1);
  EXPECT_EQ(report.notes, std::vector<std::string>{"a note"});
}

TEST(ProgramReport, ReadsNoMoreThanWhatIsThere) {
  EXPECT_TRUE(programReport("").frames.empty());
  EXPECT_TRUE(programReport("[1, 2]").frames.empty());
  EXPECT_TRUE(programReport(R"({"captured": 3})").graphs.empty());
  const ProgramReport odd = programReport(R"json({"path": 4, "captured": {
      "frames": [7, {"calls": "no", "guards": [[1], "x", []], "runs": "many", "bytecode": {"original": [[1], 5]}}],
      "breaks": [{"frame": 99, "stack": ["bug.py:x in f", 5]}], "recompiles": [{"frame": -4}],
      "graphs": [{"nodes": [[], 3], "stacks": [[3]], "stack_of": [9, -7]}]}})json");
  ASSERT_EQ(odd.frames.size(), 2u);
  EXPECT_EQ(odd.frames[1].runs, 0);
  EXPECT_EQ(odd.frames[1].guards.size(), 3u);
  EXPECT_TRUE(odd.frames[1].original.empty());
  EXPECT_EQ(odd.breaks[0].frame, -1);
  EXPECT_EQ(odd.breaks[0].line, 0);
  EXPECT_EQ(odd.recompiles[0].frame, -1);
  EXPECT_TRUE(odd.graphs[0].nodes[0].lines.empty());
}

/// A stack as deep as Python allows costs no more than what somebody looks at.
TEST(ProgramReport, NodesKeepTheInnermostLinesOfDeepStacks) {
  std::string stack;
  for (int line = 1; line <= 5000; ++line) stack += fmt::format("{}\"bug.py:{} in f\"", line > 1 ? "," : "", line);
  std::string nodes, stacks;
  for (int i = 0; i < 2000; ++i) {
    nodes += fmt::format("{}[\"call_function\",\"n{}\",\"n\"]", i > 0 ? "," : "", i);
    stacks += i > 0 ? ",0" : "0";
  }
  const auto report =
      programReport("{\"path\": \"bug.py\", \"captured\": {\"graphs\": [{\"name\": \"g\", \"nodes\": [" + nodes +
                    "], \"stacks\": [[" + stack + "]], \"stack_of\": [" + stacks + "]}]}}");
  ASSERT_EQ(report.graphs.size(), 1u);
  ASSERT_EQ(report.graphs[0].nodes.size(), 2000u);
  for (const auto& node : report.graphs[0].nodes) {
    ASSERT_EQ(node.lines.size(), 64u);
    EXPECT_EQ(node.lines.front(), 4937);
    EXPECT_EQ(node.lines.back(), 5000);
  }
}

TEST(ProgramReport, LinksManyGraphs) {
  std::string graphs, kept;
  for (int i = 0; i < 50'000; ++i) {
    graphs += fmt::format("{}{{\"name\": \"graph{}\"}}", i > 0 ? "," : "", i);
    kept += fmt::format("{}\"graph{}\"", i > 0 ? "," : "", 49'999 - i);
  }
  const auto report =
      programReport("{\"kept_graphs\": [" + kept + ", \"graph7\"], \"captured\": {\"graphs\": [" + graphs + "]}}");
  ASSERT_EQ(report.graphs.size(), 50'000u);
  EXPECT_EQ(report.graphs.front().stored, 49'999);
  EXPECT_EQ(report.graphs.back().stored, 0);
  EXPECT_EQ(report.graphs[7].stored, 49'992) << "the first of two of a name";
}

TEST(ProgramReport, IsOfCapturedProgramsAlone) {
  Workbench bench({":memory:"});
  const auto none = bench.perform(ProgramReportRequest{"a.py"});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::BadUsage);
}

}  // namespace
}  // namespace kerf::workbench
