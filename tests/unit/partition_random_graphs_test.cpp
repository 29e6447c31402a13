// Random joint graphs under random tags, policies, budgets and methods: forward then backward give the joint graph's
// values and leave its inputs as it does, or a tag that cannot be kept is an error.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <set>

#include "engine/ir/parser.h"
#include "engine/ir/printer.h"
#include "tests/support/graph_fixture.h"
#include "tests/support/partition_values.h"

namespace kerf {
namespace {

using namespace testing;
using testing_support::randomTensor;

constexpr int rows = 4;  ///< of every tensor; of `s0` rows where sizes are symbolic

/// What a node of the text is: whether a tangent reaches it, and its shape, [4, 4] or [4, 1].
struct MadeNode {
  std::string name;
  bool ofTangents = false, isColumn = false;
};

/// A joint graph as text: calls on primals, then calls on these and tangents, then copies into inputs.
class JointWriter {
 public:
  JointWriter(unsigned seed, bool symbolic) : m_random(seed), m_symbolic(symbolic) {}

  std::string text() {
    std::string header;
    if (m_symbolic) header += ", primals_9: \"Sym(s0)\"";
    for (int i = 1; i <= 3; ++i) addInput(header, fmt::format("primals_{}", i), false);
    for (int i = 1; i <= 2; ++i) addInput(header, fmt::format("tangents_{}", i), true);
    const int forward = 2 + draw(8), backward = draw(9);
    for (int i = 0; i < forward; ++i) addCall(false);
    const std::string outputs = returned(1 + draw(3), false);
    for (int i = 0; i < backward; ++i) addCall(true);
    const std::string gradients = returned(m_symbolic ? 4 : 3, true);
    for (int i = draw(3); i > 0; --i) addCopy();
    return fmt::format("class joint(torch.nn.Module):\n    def forward(self{}):\n{}        return [{}, {}]\n", header,
                       m_calls + m_copies, outputs, gradients);
  }

 private:
  int draw(int below) { return int(m_random() % unsigned(below)); }

  void addInput(std::string& header, const std::string& name, bool isTangent) {
    header += fmt::format(", {}: \"f32[{}, 4][4, 1]cpu\"", name, m_symbolic ? "s0" : "4");
    m_nodes.push_back({name, isTangent, false});
  }

  const MadeNode& pick(bool backward) {
    while (true) {
      const MadeNode& node = m_nodes[std::size_t(draw(int(m_nodes.size())))];
      if (backward || !node.ofTangents) return node;
    }
  }

  void add(const std::string& call, bool ofTangents, bool isColumn) {
    const std::string name = fmt::format("v{}", m_next++);
    m_calls += fmt::format("        {} = {}\n", name, call);
    m_nodes.push_back({name, ofTangents, isColumn});
  }

  void addCall(bool backward) {
    const MadeNode a = pick(backward), b = pick(backward);
    const bool of = a.ofTangents || b.ofTangents, column = a.isColumn && b.isColumn;
    switch (draw(7)) {
      case 0:
        return add(fmt::format("torch.ops.aten.sin.default({})", a.name), a.ofTangents, a.isColumn);
      case 1:
        return add(fmt::format("torch.ops.aten.mul.Tensor({}, {})", a.name, b.name), of, column);
      case 2:
        return add(fmt::format("torch.ops.aten.sub.Tensor({}, {})", a.name, b.name), of, column);
      case 3:
        if (a.isColumn || b.isColumn || m_symbolic)
          return add(fmt::format("torch.ops.aten.alias.default({})", a.name), a.ofTangents, a.isColumn);
        return add(fmt::format("torch.ops.aten.mm.default({}, {})", a.name, b.name), of, false);
      case 4:
        return addMoments(a);
      case 5:
        return addView(a);
      default:
        return add(fmt::format("torch.ops.aten.sum.dim_IntList({}, [1], True)", a.name), a.ofTangents, true);
    }
  }

  /// A tuple and one or both of its elements.
  void addMoments(const MadeNode& of) {
    const std::string tuple = fmt::format("t{}", m_next++);
    m_calls += fmt::format("        {} = torch.ops.aten.var_mean.correction({}, [1], correction = 0, keepdim = True)\n",
                           tuple, of.name);
    add(tuple + "[0]", of.ofTangents, true);
    if (draw(2) == 0) add(tuple + "[1]", of.ofTangents, true);
  }

  void addView(const MadeNode& of) {
    if (!m_symbolic)
      return add(fmt::format("torch.ops.aten.permute.default({}, [{}])", of.name, of.isColumn ? "0, 1" : "1, 0"),
                 of.ofTangents, of.isColumn);
    const std::string size = fmt::format("n{}", m_next++), flat = fmt::format("w{}", m_next++);
    m_calls += fmt::format("        {} = torch.ops.aten.sym_size.int({}, 0)\n", size, of.name);
    m_calls += fmt::format("        {} = torch.ops.aten.clone.default({}, memory_format = torch.contiguous_format)\n",
                           flat, of.name);
    add(fmt::format("torch.ops.aten.view.default({}, [{}, {}])", flat, size, of.isColumn ? 1 : 4), of.ofTangents,
        of.isColumn);
  }

  /// Nodes, of the backward part where some are there, an input, a value twice, None.
  std::string returned(int count, bool backward) {
    std::string names;
    for (int i = 0; i < count; ++i) {
      const bool none = backward ? draw(4) == 0 : draw(12) == 0;
      names += (i == 0 ? "" : ", ") + (none ? "None" : pick(backward).name);
    }
    return names;
  }

  void addCopy() {
    for (int tries = 0; tries < 20; ++tries) {
      const MadeNode from = pick(true);
      const int into = 1 + draw(3);
      if (from.isColumn || from.name.starts_with("primals") || m_written.contains(into)) continue;
      m_written.insert(into);
      const std::string value = fmt::format("c{}", m_next++);
      m_calls += fmt::format("        {} = torch.ops.aten.neg.default({})\n", value, from.name);
      m_copies += fmt::format("        w{} = torch.ops.aten.copy_.default(primals_{}, {})\n", m_next++, into, value);
      return;
    }
  }

  std::mt19937 m_random;
  bool m_symbolic;
  std::vector<MadeNode> m_nodes;
  std::set<int> m_written;
  std::string m_calls, m_copies;
  int m_next = 0;
};

/// Tags and policies of some calls; returns whether there are any.
bool tagSome(GraphModule& module, std::mt19937& random) {
  constexpr const char* places[] = {"must_be_in_forward", "must_be_in_backward"};
  constexpr const char* policies[] = {"MUST_SAVE", "PREFER_SAVE", "MUST_RECOMPUTE", "PREFER_RECOMPUTE"};
  bool any = false;
  for (const NodeId id : std::vector<NodeId>(module.graph.order().begin(), module.graph.order().end())) {
    NodeMeta meta = module.graph.node(id).meta();
    const unsigned drawn = random() % 16;
    if (drawn == 0 || drawn == 1) meta.extra.emplace_back("partitioner_tag", places[drawn]);
    if (drawn >= 1 && drawn < 4) meta.extra.emplace_back("recompute", policies[random() % 4]);
    if (drawn >= 4) continue;
    module.graph.setMeta(id, std::move(meta));
    any = true;
  }
  return any;
}

ValueList inputsOf(const GraphModule& joint, std::mt19937& random) {
  ValueList inputs;
  for (const NodeId id : joint.graph.placeholders())
    inputs.push_back(joint.graph.node(id).name() == "primals_9"
                         ? Value(std::int64_t(rows))
                         : Value(randomTensor(DType::Float32, {rows, 4}, random)));
  return inputs;
}

std::string tagsOf(const GraphModule& module) {
  std::string text;
  for (const NodeId id : module.graph.order())
    for (const auto& [key, value] : module.graph.node(id).meta().extra)
      if (key == "partitioner_tag" || key == "recompute") text += module.graph.node(id).name() + ": " + value + "\n";
  return text;
}

struct Outcome {
  int same = 0, refused = 0, unsupported = 0;
};

void checkGraph(unsigned seed, bool symbolic, bool tagged, Outcome& outcome) {
  const std::string text = JointWriter(seed, symbolic).text();
  auto module = parseReadable(text);
  ASSERT_TRUE(module) << module.error().text() << "\n" << text;
  std::mt19937 random(seed);
  const bool hasTags = tagged && tagSome(*module, random);
  const ValueList inputs = inputsOf(*module, random);
  const RunValues expected = runJoint(*module, inputs);
  constexpr double budgets[] = {1, 0.7, 0.3, 0};
  for (int i = 0; i < 5; ++i) {
    PartitionOptions options;
    options.method = i == 4 ? PartitionMethod::Default : PartitionMethod::MinCut;
    options.budget.solver = KnapsackSolver(random() % 3);
    options.budget.aggressive = random() % 4 == 0;
    options.budget.rules.recomputesViews = random() % 4 == 0;
    const auto partition = partitionJoint(*module, options, i == 4 ? 1 : budgets[i]);
    const std::string what =
        fmt::format("seed {}, {}\n{}{}", seed, i == 4 ? "default" : std::to_string(budgets[i]), text, tagsOf(*module));
    if (!partition && partition.error().code == ErrorCode::UnsupportedOp) {
      EXPECT_NE(text.find("copy_"), text.npos) << partition.error().text() << "\n" << what;
      ++outcome.unsupported;
      continue;
    }
    if (!partition) {
      EXPECT_TRUE(hasTags) << partition.error().text() << "\n" << what;
      EXPECT_EQ(partition.error().code, ErrorCode::BadInput) << partition.error().text() << "\n" << what;
      ++outcome.refused;
      continue;
    }
    const std::string difference = firstDifference(runPartition(*module, *partition, inputs), expected);
    ASSERT_EQ(difference, "") << what << printGraphText(partition->forward.graph)
                              << printGraphText(partition->backward.graph);
    ++outcome.same;
  }
}

unsigned graphCount() {
  const char* count = std::getenv("KERF_JOINT_GRAPHS");
  return count == nullptr ? 150 : std::max(150u, unsigned(std::stoul(count)));
}

TEST(RandomJointGraphs, GiveTheirValuesInTwoParts) {
  Outcome outcome;
  for (unsigned seed = 0; seed < graphCount(); ++seed) checkGraph(seed, seed % 3 == 0, false, outcome);
  EXPECT_EQ(outcome.refused, 0);
  EXPECT_LT(outcome.unsupported, outcome.same / 10);
}

TEST(RandomJointGraphs, GiveTheirValuesOrAnErrorUnderTags) {
  Outcome outcome;
  for (unsigned seed = 0; seed < graphCount(); ++seed) checkGraph(1000 + seed, seed % 3 == 0, true, outcome);
  for (const unsigned seed : {4116u, 5620u})  // elements and sizes that must be backward, of what is forward
    checkGraph(seed, (seed - 1000) % 3 == 0, true, outcome);
  EXPECT_GT(outcome.same, int(graphCount()));
  EXPECT_GT(outcome.refused, 0);
}

}  // namespace
}  // namespace kerf
