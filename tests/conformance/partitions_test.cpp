// The joint graphs of the golden models partitioned: what is saved against PyTorch's own choice at six memory budgets
// and by default_partition, and the values of forward and backward together against those of the joint graph.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include <nlohmann/json.hpp>

#include "engine/ir/interpreter.h"
#include "engine/ir/parser.h"
#include "engine/ir/printer.h"
#include "engine/ops/core/op_registry.h"
#include "engine/partition/partition.h"
#include "tests/support/recordings.h"

namespace kerf {
namespace {

using namespace testing;

std::string textOf(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::vector<std::string> namesOf(const Partition& partition) {
  std::vector<std::string> names;
  for (const SavedValue& value : partition.saved) names.push_back(value.name);
  names.insert(names.end(), partition.symbols.begin(), partition.symbols.end());
  return names;
}

class RecordedPartitions : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(folder() / "partition.json")) GTEST_SKIP() << leftOut(folder() / "partition.json");
    recording = nlohmann::ordered_json::parse(textOf(folder() / "partition.json"));
    auto read = parseReadable(textOf(folder() / "train_joint.txt"));
    ASSERT_TRUE(read) << read.error().text();
    joint = std::move(*read);
  }
  static std::filesystem::path folder() { return recordingsFolder() / "golden" / GetParam(); }
  nlohmann::ordered_json recording;
  GraphModule joint;
};

TEST_P(RecordedPartitions, SaveWhatPyTorchSaves) {
  for (const char* budget : {"1.0", "0.8", "0.5", "0.3", "0.1", "0.0"}) {
    const auto partition = partitionJoint(joint, {}, std::stod(budget));
    ASSERT_TRUE(partition) << budget << ": " << partition.error().text();
    const auto& expected = recording[budget];
    EXPECT_EQ(namesOf(*partition), expected["saved"].get<std::vector<std::string>>()) << budget;
    EXPECT_EQ(partition->savedBytes, expected["bytes"].get<std::int64_t>()) << budget;
    EXPECT_EQ(partition->forward.graph.size(), expected["fw_nodes"].get<std::size_t>()) << budget;
    EXPECT_EQ(partition->backward.graph.size(), expected["bw_nodes"].get<std::size_t>()) << budget;
    EXPECT_EQ(partition->forwardOutputs, recording["num_fwd_outputs"].get<std::size_t>());
  }
}

TEST_P(RecordedPartitions, DefaultSavesWhatPyTorchSaves) {
  const auto partition = partitionJoint(joint, {.method = PartitionMethod::Default});
  ASSERT_TRUE(partition) << partition.error().text();
  EXPECT_EQ(namesOf(*partition), recording["default_partition"]["saved"].get<std::vector<std::string>>());
}

/// The graphs that AOTAutograd gave its backend.
TEST_P(RecordedPartitions, AreTheRecordedGraphs) {
  const auto partition = partitionJoint(joint);
  ASSERT_TRUE(partition) << partition.error().text();
  EXPECT_EQ(printGraphText(partition->forward.graph), textOf(folder() / "train_forward.graph.txt"));
  EXPECT_EQ(printGraphText(partition->backward.graph), textOf(folder() / "train_backward.graph.txt"));
}

void flatten(const Value& value, ValueList& into) {
  if (!value.isList()) return into.push_back(value);
  for (const Value& item : value.list()) flatten(item, into);
}

ValueList run(const GraphModule& module, const ValueList& inputs) {
  Interpreter interpreter(module, referenceOps());
  const auto result = interpreter.run(inputs);
  EXPECT_TRUE(result) << result.error().text();
  ValueList leaves;
  if (result) flatten(*result, leaves);
  return leaves;
}

/// Small numbers that differ from element to element; indices that every table has.
Value madeUp(const TensorMeta& meta, double phase) {
  Tensor tensor = *Tensor::zerosStrided(DType::Float64, *meta.concreteSizes(), *meta.concreteStrides());
  auto* data = reinterpret_cast<double*>(tensor.storage()->data());
  const std::int64_t count = tensor.storage()->bytes() / std::int64_t(sizeof(double));
  for (std::int64_t i = 0; i < count; ++i)
    data[i] = isFloating(meta.dtype) ? 0.6 + 0.5 * std::sin(phase + 0.7 * double(i)) : double(i % 2);
  return *tensor.to(meta.dtype);
}

bool equal(const Value& a, const Value& b) {
  if (!a.isTensor() || !b.isTensor()) return a.isTensor() == b.isTensor();
  if (a.tensor().sizes() != b.tensor().sizes() || a.tensor().dtype() != b.tensor().dtype()) return false;
  for (std::int64_t i = 0; i < a.tensor().numel(); ++i) {
    const double x = a.tensor().itemAsDouble(i), y = b.tensor().itemAsDouble(i);
    if (x != y && !(std::isnan(x) && std::isnan(y))) return false;
  }
  return true;
}

TEST_P(RecordedPartitions, GiveTheValuesOfTheJointGraph) {
  for (const NodeId id : joint.graph.order())
    if (joint.graph.node(id).op() == Opcode::GetAttr) GTEST_SKIP() << "the text has no tensor constants";
  ValueList inputs;
  std::map<std::string, Value> byName;
  for (const NodeId id : joint.graph.placeholders()) {
    const Node& node = joint.graph.node(id);
    inputs.push_back(madeUp(*node.meta().value.tensor(), double(inputs.size())));
    byName.emplace(node.name(), inputs.back());
  }
  const ValueList expected = run(joint, inputs);
  ASSERT_FALSE(expected.empty());
  const ValueList primals(
      inputs.begin(), inputs.end() - std::ptrdiff_t(std::count_if(byName.begin(), byName.end(), [](const auto& entry) {
                        return entry.first.starts_with("tangents");
                      })));
  for (const double budget : {1.0, 0.5, 0.1, 0.0}) {
    const auto partition = partitionJoint(joint, {}, budget);
    ASSERT_TRUE(partition) << partition.error().text();
    const ValueList forward = run(partition->forward, primals);
    ASSERT_EQ(forward.size(), partition->forwardOutputs + partition->saved.size() + partition->symbols.size());
    ValueList results(forward.begin(), forward.begin() + std::ptrdiff_t(partition->forwardOutputs)), taken;
    for (std::size_t i = 0; i < partition->saved.size(); ++i)
      byName.insert_or_assign(partition->saved[i].name, forward[partition->forwardOutputs + i]);
    for (const NodeId id : partition->backward.graph.placeholders())
      taken.push_back(byName.at(partition->backward.graph.node(id).name()));
    const ValueList backward = run(partition->backward, taken);
    results.insert(results.end(), backward.begin(), backward.end());
    ASSERT_EQ(results.size(), expected.size());
    for (std::size_t i = 0; i < results.size(); ++i) EXPECT_TRUE(equal(results[i], expected[i])) << budget << ": " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, RecordedPartitions,
                         ::testing::Values("mlp", "convbn", "attention", "dlrm", "bert_mini", "gpt2_mini",
                                           "convnext_mini", "timm_test_efficientnet"));

}  // namespace
}  // namespace kerf
