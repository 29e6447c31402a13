#include "engine/accuracy/fp64_run.h"

#include <algorithm>

#include "engine/accuracy/lazy_graph.h"
#include "engine/accuracy/run_inputs.h"
#include "engine/accuracy/same_two_models.h"
#include "engine/ir/interpreter.h"
#include "engine/ops/random/state.h"

namespace kerf::inline accuracy {
namespace {

/// Converts inputs and attributes as the graph comes to them.
class Float64Interpreter : public Interpreter {
 public:
  Float64Interpreter(const LazyGraph& graph, const OpCaller& ops, DType usualFloat)
      : Interpreter(graph.module(), ops), m_graph(graph), m_usualFloat(usualFloat) {}

 protected:
  Result<Value> placeholder(const Node& node, const Value& input) override {
    return staysNarrow(node) ? input : wide(input);
  }
  Result<Value> getAttr(const Node& node) override {
    KERF_TRY(const Value value, Interpreter::getAttr(node));
    return staysNarrow(node) ? value : wide(value);
  }
  Result<Value> callFunction(const Node& node, const ValueList& args, const KeywordValues& kwargs) override {
    randomState().drawnAs = recordedFloat(node.meta().value).value_or(m_usualFloat);
    KERF_TRY(const Value value, Interpreter::callFunction(node, args, kwargs));
    return m_graph.copiesRows(node.id()) ? wide(value) : value;
  }

 private:
  /// The floating dtype that a node's results were annotated with before the cast.
  static std::optional<DType> recordedFloat(const ValueMeta& meta) {
    if (const TensorMeta* tensor = meta.tensor())
      return isFloating(tensor->dtype) ? std::optional(tensor->dtype) : std::nullopt;
    if (const auto* items = std::get_if<std::vector<ValueMeta>>(&meta.value); items != nullptr && !items->empty())
      return recordedFloat(items->front());
    return std::nullopt;
  }

  static Result<Value> wide(const Value& value) {
    if (value.isTensor()) {
      KERF_TRY(Tensor tensor, inFloat64(value.tensor()));
      return Value(std::move(tensor));
    }
    if (!value.isList()) return value;
    ValueList items;
    for (const Value& item : value.list()) {
      KERF_TRY(Value converted, wide(item));
      items.push_back(std::move(converted));
    }
    return Value(std::move(items));
  }

  bool staysNarrow(const Node& node) const {
    const bool unused = node.users().empty() && !m_graph.taken().contains(node.id().index);
    return unused || m_graph.isNarrow(node.id());
  }

  const LazyGraph& m_graph;
  DType m_usualFloat;  ///< of what has no annotation
};

/// `inputs` as the run takes them: those with memory of their own in float64, the others as recorded.
Result<ValueList> givenInputs(const ValueList& inputs, const std::vector<bool>& own) {
  ValueList copied;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (own[i]) copied.push_back(inputs[i]);
  KERF_TRY(const ValueList clones, cloneInputs(copied, true));
  ValueList given = inputs;
  for (std::size_t i = 0, next = 0; i < inputs.size(); ++i)
    if (own[i]) given[i] = clones[next++];
  return given;
}

/// Float64 if an input is, else float32.
DType usualFloatOf(const ValueList& inputs) {
  const bool wide = std::ranges::any_of(
      inputs, [](const Value& input) { return input.isTensor() && input.tensor().dtype() == DType::Float64; });
  return wide ? DType::Float64 : DType::Float32;
}

/// Puts a run's generators in the thread's place.
class BorrowedRandomState {
 public:
  explicit BorrowedRandomState(RandomState& own) : m_own(own) { std::swap(m_own, randomState()); }
  ~BorrowedRandomState() { std::swap(m_own, randomState()); }
  BorrowedRandomState(const BorrowedRandomState&) = delete;
  BorrowedRandomState& operator=(const BorrowedRandomState&) = delete;

 private:
  RandomState& m_own;
};

}  // namespace

struct Float64Run::State {
  LazyGraph graph;
  RunResults run;
  OnOutput onOutput;
  Float64Interpreter interpreter;
  RandomState random;  ///< as seedRandom() leaves it: every run sees the same random numbers
  Value last;          ///< of the node that ran last

  State(LazyGraph lazy, const OpCaller& ops, DType usualFloat)
      : graph(std::move(lazy)), interpreter(graph, ops, usualFloat) {
    interpreter.onNode = [this](const Node& node, const Value& value) {
      last = value;
      const auto found = graph.taken().find(node.id().index);
      if (found != graph.taken().end())
        for (const std::size_t index : found->second) onOutput(index, value);
    };
  }
};

Result<Float64Run> Float64Run::start(const GraphModule& module, const OpCaller& ops, const ValueList& inputs,
                                     const ResultNames& names, const OnOutput& onOutput, std::stop_token stop,
                                     const std::set<std::size_t>& unwanted) {
  KERF_TRY(GraphModule cast, castToFp64(module, names.attributes));
  KERF_TRY(ValueList given, givenInputs(inputs, needOwnMemory(inputs, names)));
  Float64Run run;
  run.m_state = std::make_shared<State>(LazyGraph(std::move(cast), given), ops, usualFloatOf(inputs));
  State& state = *run.m_state;
  state.run.inputs = std::move(given);
  for (const std::string& path : names.attributes) {
    const TensorAttribute* attribute = state.graph.module().attribute(path);
    state.run.attributes.emplace_back(path, attribute != nullptr ? Value(attribute->tensor) : Value());
  }
  state.onOutput = onOutput;
  state.graph.dropOutputs(unwanted);
  if (onOutput) {
    state.graph.takeOutputs();
    state.graph.moveReturnedUp();
  }
  state.graph.splitLargeInputs();
  state.graph.moveToFirstUses();
  const RandomScope seeded;
  state.random = randomState();
  state.interpreter.start(state.graph.inputs(), std::move(stop));
  return run;
}

Result<Value> Float64Run::runTo(NodeId node) {
  const BorrowedRandomState random(m_state->random);
  while (const Node* next = m_state->interpreter.nextNode()) {
    const bool found = next->id() == node;
    m_state->last = {};
    KERF_CHECK(m_state->interpreter.step());
    if (found) return std::move(m_state->last);
  }
  return fail(ErrorCode::Internal, "the fp64 run is past the node that was asked for");
}

Result<RunResults> Float64Run::finish() {
  const BorrowedRandomState random(m_state->random);
  m_state->last = {};
  while (m_state->interpreter.nextNode() != nullptr) {
    KERF_CHECK(m_state->interpreter.step());
    m_state->last = {};  // else the value would outlive its last use
  }
  KERF_TRY(m_state->run.outputs, m_state->interpreter.finish());
  return std::move(m_state->run);
}

}  // namespace kerf::inline accuracy
