#include "engine/verification/stage_run.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include "engine/accuracy/same_two_models.h"
#include "engine/ir/interpreter.h"
#include "engine/ops/core/memory_writes.h"
#include "engine/ops/core/op_registry.h"
#include "engine/ops/core/upcast.h"
#include "engine/ops/random/state.h"

namespace kerf::inline verification {
namespace {

class StageInterpreter : public Interpreter {
 public:
  StageInterpreter(const GraphModule& module, const OpCaller& ops, bool wide)
      : Interpreter(module, ops), m_wide(wide) {}

 protected:
  Result<Value> getAttr(const Node& node) override {
    KERF_TRY(Value value, Interpreter::getAttr(node));
    return m_wide ? widened(value) : Result<Value>(std::move(value));
  }
  Result<Value> callFunction(const Node& node, const ValueList& args, const KeywordValues& kwargs) override {
    KERF_TRY(Value result, Interpreter::callFunction(node, args, kwargs));
    return m_wide ? copiedAsRecorded(module().graph, node, args, std::move(result)) : Result<Value>(std::move(result));
  }
  Result<Value> callMethod(const Node& node, const ValueList& args, const KeywordValues& kwargs) override {
    KERF_TRY(Value result, Interpreter::callMethod(node, args, kwargs));
    return m_wide ? copiedAsRecorded(module().graph, node, args, std::move(result)) : Result<Value>(std::move(result));
  }

 private:
  bool m_wide;
};

const Value& firstTensor(const Value& value) {
  if (!value.isList()) return value;
  for (const Value& item : value.list())
    if (const Value& found = firstTensor(item); found.isTensor()) return found;
  return value;
}

/// Functions of torch.nn.functional that update running statistics, whatever their rows say.
bool updatesStatistics(const Node& node) {
  return node.target().find("batch_norm") != std::string::npos ||
         node.target().find("instance_norm") != std::string::npos;
}

/// By placeholder, whether the graph may write into it.
std::vector<bool> writtenInputs(const GraphModule& module) {
  const auto writes = memoryWrites(module).placeholders;
  const auto placeholders = module.graph.placeholders();
  std::vector<bool> written;
  for (std::size_t i = 0; i < placeholders.size(); ++i) {
    const bool statistics = std::ranges::any_of(module.graph.node(placeholders[i]).users(), [&](NodeId user) {
      return updatesStatistics(module.graph.node(user));
    });
    written.push_back(statistics || i >= writes.size() || writes[i] != MemoryWrites::Answer::No);
  }
  return written;
}

/// A copy for the graph to write into; what it is a copy of stays.
Result<Value> writableCopy(const Value& input, bool wide) {
  if (!input.isTensor() || !input.tensor().defined()) return input;
  KERF_TRY(Tensor copy, input.tensor().clonePreservingStrides());
  copy.setDevice(input.tensor().device());
  return wide ? widened(Value(std::move(copy))) : Result<Value>(Value(std::move(copy)));
}

/// Values of inputs that the graph wrote into, as "mutates:3" for "in:3".
Result<void> addMutated(const Stage& stage, const ValueList& inputs, const std::vector<ValuePrint>& before,
                        SlotValues& values) {
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (!before[i].known()) continue;
    KERF_TRY(const auto after, printOf(inputs[i]));
    if (distance(before[i], after) == 0) continue;
    const Slot& slot = stage.inputs[i];
    values.try_emplace("mutates:" + (slot.starts_with("in:") ? slot.substr(3) : slot), inputs[i]);
  }
  return {};
}

/// Whether some node may write into memory that another one made.
bool writesMemory(const Graph& graph) {
  return std::ranges::any_of(graph.order(), [&](NodeId id) {
    const Node& node = graph.node(id);
    if (node.op() == Opcode::CallModule || updatesStatistics(node) ||
        node.target().find("higher_order") != std::string::npos)
      return true;
    bool found = false;
    if (node.op() == Opcode::CallFunction || node.op() == Opcode::CallMethod)
      forEachMemoryUse(node, [&](const Argument&, bool writes, bool) { found = found || writes; });
    return found;
  });
}

/// Nested graphs see their operands as they are.
bool hasHigherOrder(const GraphModule& module) {
  return std::ranges::any_of(module.graph.order(), [&](NodeId id) {
    return module.graph.node(id).target().find("higher_order") != std::string::npos;
  });
}

void addOutputs(const Stage& stage, const Value& result, SlotValues& values) {
  const ValueList single{result};
  const ValueList& items = result.isList() ? result.list() : single;
  for (std::size_t i = 0; i < std::min(items.size(), stage.outputs.size()); ++i)
    if (!stage.outputs[i].empty()) values.try_emplace(stage.outputs[i], items[i]);
}

/// Where the elements of a contiguous tensor are; null for others.
struct Memory {
  const Storage* storage = nullptr;
  std::int64_t offset = 0, numel = 0;
  DType dtype = DType::Float32;
  bool operator==(const Memory&) const = default;
};

/// Makes the prints while the nodes run, and tells how far the run is.
struct Watcher {
  const StageRunOptions& options;
  const Graph& graph;
  StageRun& run;
  bool writes = true;  ///< some node may write into memory that another one made
  std::size_t nodes = 0;
  std::map<NodeId, Memory> seen = {};

  void operator()(const Node& node, const Value& value) {
    if (options.onProgress && ++nodes % 16 == 0) options.onProgress(double(nodes) / double(graph.size()));
    if (options.keep.contains(node.name())) keep(node, value);
    if (!options.prints) return;
    const Value& tensor = firstTensor(value);
    auto print = knownPrint(node, tensor);
    if (!print) {
      auto made = printOf(tensor);
      if (!made) return;
      print = *made;
    }
    if (run.prints.size() <= node.id().index) run.prints.resize(node.id().index + std::size_t(1));
    run.prints[node.id().index] = *print;
    if (!writes) seen[node.id()] = memoryOf(tensor);
  }

  /// A copy where a later node may write into it.
  void keep(const Node& node, const Value& value) {
    const bool copies = writes && value.isTensor() && value.tensor().defined();
    if (auto copy = copies ? value.tensor().clonePreservingStrides() : Result<Tensor>(Tensor()); copies && copy)
      run.kept.insert_or_assign(node.name(), Value(std::move(*copy)));
    else
      run.kept.insert_or_assign(node.name(), value);
  }

  /// A view of all its operand's elements in their order has the operand's print.
  std::optional<ValuePrint> knownPrint(const Node& node, const Value& value) const {
    const auto memory = memoryOf(value);
    if (writes || memory == Memory()) return std::nullopt;
    for (const NodeId input : node.inputs())
      if (const auto known = seen.find(input); known != seen.end() && known->second == memory)
        return run.prints[input.index];
    return std::nullopt;
  }

  static Memory memoryOf(const Value& value) {
    if (!value.isTensor() || !value.tensor().defined() || !value.tensor().isContiguous()) return {};
    const Tensor& tensor = value.tensor();
    return {tensor.storage().get(), tensor.offset(), tensor.numel(), tensor.dtype()};
  }
};

}  // namespace

Result<ValueList> inputsOf(const Stage& stage, const SlotValues& values) {
  ValueList inputs;
  for (const Slot& slot : stage.inputs) {
    const auto found = values.find(slot);
    if (found == values.end())
      return fail(ErrorCode::NotFound, "{} takes {}, which no stage before it gives", stage.name, slot);
    inputs.push_back(found->second);
  }
  return inputs;
}

Result<StageRun> runStage(const Stage& stage, const GraphModule& module, const SlotValues& inputs,
                          const StageRunOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const bool wide = options.arithmetic == Arithmetic::Wide;
  KERF_TRY(ValueList arguments, inputsOf(stage, inputs));
  const auto written = writtenInputs(module);
  // Where nothing is written every op widens what it is given, so that not all inputs are there twice.
  const bool widenAll = wide && hasHigherOrder(module);
  std::vector<ValuePrint> before(arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (i < written.size() && written[i]) {
      KERF_TRY(arguments[i], writableCopy(arguments[i], wide));
      KERF_TRY(before[i], printOf(arguments[i]));
    } else if (widenAll) {
      KERF_TRY(arguments[i], widened(arguments[i]));
    }
  }
  StageRun run;
  run.draws = options.draws;
  const auto wideOps = upcastOps(false);
  const SharedRandom ops(wide ? *wideOps : referenceOps(), run.draws);
  StageInterpreter interpreter(module, ops, wide);
  interpreter.onNode = Watcher{options, module.graph, run, writesMemory(module.graph)};
  interpreter.onSubgraph = [&](std::string_view path, const GraphModule&, const ValueList&) {
    run.subgraphs.emplace(path);
  };
  const RandomScope random;
  KERF_TRY(const Value result, interpreter.run(arguments, options.stop));
  addOutputs(stage, result, run.values);
  KERF_CHECK(addMutated(stage, arguments, before, run.values));
  run.time = std::chrono::steady_clock::now() - start;
  return run;
}

}  // namespace kerf::inline verification
