// GraphBuilder: a graph that grows call by call, each of them run on real values while it grows, so that what it holds
// is valid and its values are known.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/ops/core/op_registry.h"
#include "minifier/core/minify.h"
#include "tests/differential/fuzzgraph/random_values.h"

namespace kerf::fuzzgraph {

/// A tensor of the graph.
struct KnownTensor {
  NodeId node;
  Tensor tensor;
  bool rounded = false;  ///< computed with rounding: the two sides may differ in the last bits
  bool isInput = false;
};

/// An argument of a call: as the graph writes it, and as it runs.
struct Operand {
  Argument argument;
  Value value;
  bool rounded = false;
};

/// What the tensors of one graph have in common more often than not.
struct GraphTheme {
  DType dtype = DType::Float32;
  Sizes sizes;
  bool symbolic = false;  ///< sizes of inputs are symbols
  bool corners = false;   ///< inputs hold infinities and the like now and then
  bool mutates = false;   ///< in-place ops, and copy_ into inputs at the end
};

/// A call of the graph about to be made.
struct PlannedCall {
  std::string target;  ///< "torch.ops.aten.add.Tensor"
  std::string name;
  std::vector<Operand> positional;
  std::vector<std::pair<std::string, Operand>> keywords;
};

/// Tensors without data, as shape rules give them, too.
void forEachTensor(const Value& value, const std::function<void(const Tensor&)>& visit);
std::vector<const Operand*> operandsOf(const PlannedCall& call);

class GraphBuilder {
 public:
  static constexpr std::int64_t maxElements = 4096;  ///< of one tensor

  GraphBuilder(std::uint64_t seed, bool symbolic);

  Dice dice;
  GraphTheme theme;

  const std::vector<KnownTensor>& tensors() const { return m_tensors; }
  static Operand operandOf(const KnownTensor& known) {
    return {Argument(known.node), Value(known.tensor), known.rounded};
  }
  /// A tensor that becomes an input of the graph if the call it is drawn for is kept.
  Operand fresh(Tensor tensor);
  Operand fresh(DType dtype, const Sizes& sizes, Interval range, bool rowMajor = false);
  DType randomDType();
  /// The theme's, or something that broadcasts with it, or something else.
  Sizes randomSizes();
  Interval randomRange();
  /// `size` as the graph writes it: a node where it is a symbol's value, or a product of such.
  Argument sizeArgument(std::int64_t size);
  /// Operands drawn for a call that came to nothing leave no trace.
  void forgetFresh() { m_fresh.clear(); }

  /// Runs the call of a row of the table; keeps it if it succeeds and gives what later ops can work with.
  bool keep(const OpInfo& op, PlannedCall call);
  /// Keeps a call that has been run: `result` is its value.
  void write(const PlannedCall& call, const Value& result, bool rounded);
  /// A nested graph; the node that names it.
  Operand nested(const std::string& name, GraphModule body);

  /// Outputs, symbols and shapes; inputs as they were before anything was written to them.
  Result<Candidate> finish();

  GraphModule module;
  std::map<std::string, int> kept;       ///< calls by overload
  std::vector<std::string> shapeFaults;  ///< kernels whose result is not what the table says

 private:
  struct FreshInput {
    Tensor tensor;
    std::vector<std::byte> bytes;  ///< of its storage, before anything ran
  };
  static constexpr std::uint32_t freshBase = 1u << 30;

  bool fits(const OpInfo& op, const PlannedCall& call, const ValueList& args, const KeywordValues& kwargs);
  bool isBenign(const Value& value);
  bool mayWrite(const OpInfo& op, const PlannedCall& call) const;
  void checkShapes(const OpInfo& op, const Value& planned, const Value& result, const PlannedCall& call);
  void checkMemory(const OpInfo& op, const Value& result, const PlannedCall& call);
  NodeId placeInput(const FreshInput& input);
  void placeFresh();
  Argument placed(const Argument& argument) const;
  void learnReshaped(NodeId call, const Value& result);
  void learn(NodeId node, const Value& value, bool rounded);
  void nameSymbols(NodeId input, const Tensor& tensor);
  void addFrontNode(NodeId node);
  void writeEpilogue();
  ArgumentList chooseOutputs();
  void annotate(NodeId input, const Tensor& tensor, ShapeEnv* env);
  Result<void> settleSymbols(ShapeEnv& env);

  std::vector<KnownTensor> m_tensors;
  std::vector<FreshInput> m_fresh;
  std::vector<NodeId> m_freshNodes;
  std::vector<FreshInput> m_placed;
  ValueList m_inputs;
  std::optional<NodeId> m_firstCall;
  std::map<std::int64_t, NodeId> m_symbolNodes;  ///< by example value
};

/// The symbols of symbolic graphs with their examples: numbers that nothing else is.
std::span<const std::pair<const char*, std::int64_t>> fuzzSymbols();

}  // namespace kerf::fuzzgraph
