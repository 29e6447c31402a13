// What differs between a recording of PyTorch's Dynamo and Kerf's log.
#include <gtest/gtest.h>

#include "app/workbench/programs/recorded_log.h"

namespace kerf::workbench {
namespace {

using nlohmann::json;

const json recorded = json::parse(R"json({
  "name": "p",
  "graphs": [{"nodes": [["placeholder", "l_x_", "L_x_", "L_x_"], ["call_function", "add", "<built-in function add>", "operator.add"],
                        ["output", "output", "output", "output"]],
              "sources": ["L['x']"]}],
  "calls": [{"breaks": [{"reason": "copy.deepcopy()\n  Explanation: no", "stack": ["p.py:3 in f: g(x)", "lib.py:9 in g: y"]}],
             "logs": [["recompiles", "Recompiling function f in p.py:2\n    triggered by\n    - 0/0: n == 2   # x * n"]]}],
  "explain": {"out_guards": [["TENSOR_MATCH", "L['x']"], ["MODULE_MATCH", "G['__import_torch'].F"]]}})json");

json given() {
  return json::parse(R"json({
    "graphs": [{"nodes": [["placeholder", "x", "x"], ["call_function", "a", "operator.add"], ["output", "output", "output"]],
                "sources": ["L['x']"]}],
    "breaks": [{"reason": "copy.deepcopy()\n  Explanation: other", "stack": ["p.py:3 in f"]}],
    "recompiles": [{"function": "f", "at": "p.py:2", "guard": "n == 2"}],
    "frames": [{"guards": [["TENSOR_MATCH", "leaf", "L['x']"]]}, {"guards": [["TYPE_MATCH", "leaf", "L['later']"]]}]})json");
}

TEST(RecordedLog, FindsNothingWhereNamesAndLibrariesDiffer) {
  for (const auto& [field, difference] : compareLog(recorded, given(), 1)) EXPECT_EQ(difference, "") << field;
}

TEST(RecordedLog, TellsTheFirstNodeThatDiffers) {
  json log = given();
  log["graphs"][0]["nodes"][1][2] = "operator.mul";
  auto differences = compareLog(recorded, log, 1);
  EXPECT_EQ(differences["op_lists"],
            "graph 0: node 0 of 2: call_function operator.mul, recorded call_function operator.add (of 2)");
  EXPECT_EQ(differences["graphs"], "");
}

TEST(RecordedLog, ComparesBreaksByUserLineAndId) {
  json log = given();
  log["breaks"][0]["stack"] = json::array({"p.py:4 in f"});
  EXPECT_EQ(compareLog(recorded, log, 1)["breaks"],
            "break 0 of 1: p.py:4: copy.deepcopy(), recorded p.py:3: copy.deepcopy() (of 1)");
}

TEST(RecordedLog, CountsGuardsOfTheFirstCallOnly) {
  EXPECT_EQ(compareLog(recorded, given(), 2)["guards"],
            "of 1 recorded 0 are missing (), 1 are more (TYPE_MATCH L['later'])");
}

}  // namespace
}  // namespace kerf::workbench
