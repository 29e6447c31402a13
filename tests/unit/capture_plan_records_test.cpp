// What later versions of PyTorch log of plans: spmd_check, process groups, the partitioner's choices, AutoParallel.
#include <gmock/gmock.h>

#include "engine/capture/trace/compile_log.h"
#include "tests/unit/capture_trace_testing.h"

namespace kerf {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

std::string planArtifact(const std::string& name, const std::string& payload) {
  return testing::traceRecord("\"artifact\": {\"name\": \"" + name + "\", \"encoding\": \"json\"}" + testing::frame00,
                              payload);
}

/// Fields of the one record of metrics that the payload becomes.
std::vector<std::pair<std::string, std::string>> planFacts(const std::string& name, const std::string& payload) {
  testing::TemporaryFolder folder;
  const auto capture = testing::importTraceText(folder, planArtifact(name, payload));
  EXPECT_TRUE(capture) << capture.error().text();
  if (!capture) return {};
  const auto log = readCompileLog(*capture);
  EXPECT_TRUE(log) << log.error().text();
  if (!log || log->compiles.empty() || log->compiles[0].metrics.empty()) return {};
  EXPECT_EQ(log->compiles[0].metrics[0].kind, name);
  return log->compiles[0].metrics[0].fields;
}

const std::string spmdReport =
    "================\n"
    "SPMD GRAPH MISMATCH — rank 0, world_size=2\n"
    "================\n"
    "NODE COUNTS PER RANK:\n"
    "  rank 0: 3 call_function nodes\n"
    "  rank 1: 4 call_function nodes <--\n"
    "\n"
    "DIFFS rank 0 vs rank 1:\n"
    "  node 2:\n"
    "    rank 0: aten.relu.default meta=f32[4]\n"
    "    rank 1: aten.neg.default meta=f32[4]\n"
    "  Only on rank 1:\n"
    "    aten.neg.default (x2)\n";

TEST(PlanRecords, TellWhereGraphsOfRanksDiffer) {
  EXPECT_THAT(planFacts("inductor_spmd_graph_mismatch", spmdReport),
              ElementsAre(Pair("rank 0", "3 call_function nodes"), Pair("rank 1", "4 call_function nodes"),
                          Pair("ranks 0 and 1: node 2",
                               "rank 0: aten.relu.default meta=f32[4] | rank 1: aten.neg.default meta=f32[4]"),
                          Pair("ranks 0 and 1: Only on rank 1", "aten.neg.default (x2)")));
}

TEST(PlanRecords, TellProcessGroupsAndMeshes) {
  EXPECT_THAT(planFacts("distributed_topology",
                        R"({"has_distributed_ops": true, "process_groups": {"default": {"size": 8, "rank": 2}},)"
                        R"( "device_meshes": [{"device_type": "cuda", "mesh": [[0, 1], [2, 3]],)"
                        R"( "mesh_dim_names": ["dp", "tp"]}]})"),
              ElementsAre(Pair("process group default", "rank 2 of 8"),
                          Pair("device mesh cuda", "[[0, 1], [2, 3]] over (dp, tp)")));
}

TEST(PlanRecords, TellWhatThePartitionerSavesAndComputesAgain) {
  const std::string payload =
      R"({"Joint Graph Size": 4, "Joint Graph Node Information": {)"
      R"("mm": {"name": "mm", "is_recomputable_candidate": true, "target": "aten.mm.default", "shape": "[4, 8]",)"
      R"( "stack_trace": "  File \"model.py\", line 12, in forward\n    x = self.up(x)\n",)"
      R"( "recomputable_candidate_info": {"recomputable_node_idx": 0, "memory": 0.25, "runtime": 3.5}},)"
      R"("relu": {"name": "relu", "is_recomputable_candidate": true, "target": "aten.relu.default", "shape": "[4, 8]",)"
      R"( "stack_trace": "", "recomputable_candidate_info": {"recomputable_node_idx": 1, "memory": 0.5, "runtime": 1}},)"
      R"("x": {"name": "x", "is_recomputable_candidate": false, "target": "x", "shape": "[4, 4]"},)"
      R"("y": {"name": "y", "is_recomputable_candidate": false, "target": "y", "shape": "[4]"}},)"
      R"( "Knapsack Saved Nodes": [0], "Knapsack Recomputed Nodes": [1], "Min Cut Solution Saved Values": ["x"]})";
  EXPECT_THAT(
      planFacts("min_cut_information", payload),
      ElementsAre(Pair("mm", "saved: aten.mm.default [4, 8]; memory 0.25; run time 3.5; model.py:12 in forward"),
                  Pair("relu", "computed again: aten.relu.default [4, 8]; memory 0.5; run time 1"),
                  Pair("x", "saved by the minimal cut: x [4, 4]")));
}

TEST(PlanRecords, TellPlacementsOfAutoParallel) {
  const std::string payload =
      R"p({"mesh": {"shape": [2], "dim_names": ["dp"]}, "nodes": [)p"
      R"p({"name": "mm", "op": "aten.mm.default", "placement": "S(0)", "compute_cost": 1.5, "module_path": "up",)p"
      R"p( "source": {"file": "model.py", "line": 12, "func": "forward", "code": "x"}, "inputs": [)p"
      R"p({"name": "x", "src_placement": "R", "dst_placement": "S(0)", "comm_cost": 2},)p"
      R"p({"name": "w", "src_placement": "R", "dst_placement": "R", "comm_cost": 0}]},)p"
      R"p({"name": "output", "op": "output", "inputs": [{"name": "mm"}]}]})p";
  EXPECT_THAT(planFacts("autoparallel_solution", payload),
              ElementsAre(Pair("mm",
                               "S(0) = aten.mm.default(x: R → S(0) (2), w: R); compute 1.5; communication 2; in "
                               "up; model.py:12 in forward")));
}

TEST(PlanRecords, BrokenPayloadsGiveNothing) {
  for (const std::string name :
       {"inductor_spmd_graph_mismatch", "distributed_topology", "min_cut_information", "autoparallel_solution"})
    for (const std::string payload : {"", "[", "{\"nodes\": [1, null", "\"text\"", "{\"process_groups\": 3}"})
      EXPECT_THAT(planFacts(name, payload), IsEmpty()) << name << " " << payload;
}

TEST(PlanRecords, AReasonSaysTheUsersLineBehindItsGuard) {
  testing::TemporaryFolder folder;
  const auto capture = testing::importTraceText(
      folder, planArtifact("recompile_reasons",
                           R"(["0/0: len(x) == 3\nUser stack trace:\n  File \"a.py\", line 3, in <module>\n    f(x)\n)"
                           R"(  File \"lib.py\", line 7, in f\n    return g(x)\n"])"));
  ASSERT_TRUE(capture);
  const auto log = readCompileLog(*capture);
  ASSERT_TRUE(log);
  ASSERT_EQ(log->compiles.size(), 1U);
  ASSERT_EQ(log->compiles[0].causes.size(), 1U);
  EXPECT_EQ(log->compiles[0].causes[0].guard, "len(x) == 3");
  EXPECT_EQ(log->compiles[0].causes[0].where, "lib.py:7 in f");
}

}  // namespace
}  // namespace kerf
