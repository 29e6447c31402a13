#include "engine/ir/interpreter.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <unordered_map>

#include "engine/ir/call_values.h"
#include "engine/ir/tensor_objects.h"

namespace kerf::inline ir {

namespace {

/// Tensors of a trace, which have no memory, are followed by the tracer.
bool areSeen(const Value& a, const Value& b) {
  return a.isTensor() && b.isTensor() && a.tensor().defined() && b.tensor().defined();
}

bool looksAlike(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.storage() == b.storage() && a.sizes() == b.sizes() && a.strides() == b.strides() &&
         a.offset() == b.offset();
}

/// Which values are one tensor object, and how those look now that a call reshaped. Slots are NodeId::index.
class FrameObjects {
 public:
  FrameObjects() = default;
  explicit FrameObjects(std::size_t slots) : m_objectOf(slots), m_names(slots, 0) {
    for (std::size_t i = 0; i < slots; ++i) m_objectOf[i] = i;
  }

  bool any() const { return !m_objectOf.empty(); }
  /// Null where the value is as the node gave it.
  const Value* now(std::size_t slot) const {
    if (m_now.empty()) return nullptr;
    const auto found = m_now.find(m_objectOf[slot]);
    return found == m_now.end() ? nullptr : &found->second;
  }
  void name(std::size_t slot) { ++m_names[m_objectOf[slot]]; }
  void nameAs(std::size_t slot, std::size_t same) { m_objectOf[slot] = m_objectOf[same]; }
  void reshape(std::size_t slot, const Value& value) { m_now.insert_or_assign(m_objectOf[slot], value); }
  /// The last name takes the object with it.
  void forget(std::size_t slot) {
    if (--m_names[m_objectOf[slot]] <= 0) m_now.erase(m_objectOf[slot]);
  }

 private:
  std::vector<std::size_t> m_objectOf;
  std::vector<int> m_names;  ///< by object
  std::unordered_map<std::size_t, Value> m_now;
};

}  // namespace

struct Interpreter::Frame {
  const ValueList& inputs;
  std::size_t nextInput = 0;
  std::size_t nextNode = 0;  ///< in the graph's order
  Value result;
  std::vector<Value> values;  ///< by NodeId::index
  std::vector<bool> known;    ///< which of them are there
  std::vector<std::vector<NodeId>> freeAfter;
  TensorObjects calls;   ///< those of the graph that reshape
  FrameObjects objects;  ///< empty for graphs that reshape nothing

  const Value& valueOf(NodeId id) const {
    const Value* now = objects.now(id.index);
    return now != nullptr ? *now : values[id.index];
  }

  void keep(const Node& node, Value value) {
    const std::size_t slot = node.id().index;
    values[slot] = std::move(value);
    known[slot] = true;
    if (!objects.any()) return;
    keepObject(node);
    objects.name(slot);
    for (const NodeId out : calls.listedBy(node.id())) objects.name(out.index);  // the list names what it holds
  }

  void drop(NodeId id) {
    if (objects.any() && known[id.index]) {
      objects.forget(id.index);
      for (const NodeId out : calls.listedBy(id)) objects.forget(out.index);
    }
    values[id.index] = {};
    known[id.index] = false;
  }

  /// The tensors that a call reshaped are so under every name that they have.
  void keepObject(const Node& node) {
    const Value& result = values[node.id().index];
    const std::span<const NodeId> operands = calls.reshapedBy(node.id());
    for (std::size_t k = 0; k < operands.size(); ++k) {
      const bool isItem = result.isList() && k < result.list().size();
      const Value& now = isItem ? result.list()[k] : result;
      const Value& before = valueOf(operands[k]);
      if (areSeen(before, now) && before.tensor().dtype() == now.tensor().dtype() &&
          !looksAlike(before.tensor(), now.tensor()))
        objects.reshape(operands[k].index, now);
    }
    if (const auto same = sameObject(node, result)) objects.nameAs(node.id().index, same->index);
  }

  /// The operand that the call gave back; an item of several out= is what the call wrote.
  std::optional<NodeId> sameObject(const Node& node, const Value& result) const {
    if (itemOfCall(node)) return calls.listedItem(node);
    const auto back = operandGivenBack(node);
    if (!back || !areSeen(valueOf(*back), result) || !looksAlike(valueOf(*back).tensor(), result.tensor()))
      return std::nullopt;
    return back;
  }
};

namespace {

std::vector<std::vector<NodeId>> lastUses(const Graph& graph, std::size_t slots) {
  std::vector<std::vector<NodeId>> out(slots);
  std::vector<bool> seen(slots, false);
  const auto order = graph.order();
  for (auto id = order.rbegin(); id != order.rend(); ++id) {
    for (const NodeId input : graph.node(*id).inputs()) {
      if (seen[input.index]) continue;
      seen[input.index] = true;
      out[id->index].push_back(input);
    }
    if (graph.node(*id).users().empty()) out[id->index].push_back(*id);
  }
  return out;
}

std::size_t slotCount(const Graph& graph) {
  std::size_t count = 0;
  for (const NodeId id : graph.order()) count = std::max<std::size_t>(count, id.index + std::size_t{1});
  return count;
}

Error located(Error error, const Node& node) {
  if (error.node.empty()) error.atNode(node.name());
  return error;
}

/// Overloads to try, in this order, for a tensor method.
constexpr std::array<std::string_view, 11> methodOverloads = {
    "default", "Tensor", "Scalar", "dim", "int", "dim_IntList", "self", "Tensor_Scalar", "other", "dtype", "Dimname"};

}  // namespace

class Interpreter::Subgraphs : public SubgraphCaller {
 public:
  explicit Subgraphs(const Interpreter& interpreter) : m_interpreter(interpreter) {}
  Result<Value> callSubgraph(std::string_view path, const ValueList& args) const override {
    return m_interpreter.runSubgraph(path, args);
  }

 private:
  const Interpreter& m_interpreter;
};

Result<Value> OpCaller::callHigherOrder(const OpTarget& target, const ValueList& args, const KeywordValues& kwargs,
                                        const SubgraphCaller&) const {
  return call(target, args, kwargs);
}

Result<Value> Interpreter::run(const ValueList& inputs, std::stop_token stop) {
  start(inputs, std::move(stop));
  for (bool more = true; more;) {
    KERF_TRY(more, step());
  }
  return finish();
}

void Interpreter::start(const ValueList& inputs, std::stop_token stop, const Environment& known) {
  m_stop = std::move(stop);
  m_ownProgress = {};
  const std::size_t slots = slotCount(m_module.graph);
  TensorObjects calls(m_module.graph);
  FrameObjects objects = calls.any() ? FrameObjects(slots) : FrameObjects();
  m_frame = std::make_shared<Frame>(Frame{.inputs = inputs,
                                          .result = {},
                                          .values = std::vector<Value>(slots),
                                          .known = std::vector<bool>(slots, false),
                                          .freeAfter = lastUses(m_module.graph, slots),
                                          .calls = std::move(calls),
                                          .objects = std::move(objects)});
  for (const auto& [node, value] : known) {
    if (node.index >= slots) continue;
    m_frame->values[node.index] = value;
    m_frame->known[node.index] = true;
    if (m_frame->objects.any()) m_frame->objects.name(node.index);
  }
}

const Node* Interpreter::nextNode() const {
  const auto order = m_module.graph.order();
  return m_frame && m_frame->nextNode < order.size() ? &m_module.graph.node(order[m_frame->nextNode]) : nullptr;
}

Result<bool> Interpreter::step() {
  const Node* const next = nextNode();
  if (next == nullptr) return false;
  auto done = stepOver(*m_frame, *next);
  if (!done) {
    m_frame.reset();
    return fail(located(std::move(done).error(), *next));
  }
  ++m_frame->nextNode;
  return nextNode() != nullptr;
}

Result<void> Interpreter::stepOver(Frame& frame, const Node& node) {
  if (m_stop.stop_requested()) return fail(ErrorCode::Cancelled, "stopped");
  if (++m_progress->nodes > limits.nodes) return fail(ErrorCode::TooLarge, "more than {} nodes were run", limits.nodes);
  const std::size_t slot = node.id().index;
  if (!frame.known[slot]) {
    KERF_TRY(Value value, runIn(frame, node));
    if (onNode) onNode(node, value);
    if (node.op() == Opcode::Output) {
      frame.result = std::move(value);
    } else {
      frame.keep(node, std::move(value));
    }
  }
  if (!freesValues) return {};
  for (const NodeId dead : frame.freeAfter[slot]) frame.drop(dead);
  return {};
}

const Value* Interpreter::valueOf(NodeId node) const {
  const bool isKnown = m_frame && node.index < m_frame->known.size() && m_frame->known[node.index];
  return isKnown ? &m_frame->valueOf(node) : nullptr;
}

Result<Value> Interpreter::finish() {
  const std::shared_ptr<Frame> frame = std::move(m_frame);
  if (!frame) return fail(ErrorCode::Internal, "the run failed before");
  if (frame->nextInput < frame->inputs.size())
    return fail(ErrorCode::BadInput, "the graph takes {} inputs but {} were given", frame->nextInput,
                frame->inputs.size());
  return std::move(frame->result);
}

Result<Value> Interpreter::runNode(const Node& node, const Environment& environment) {
  for (const NodeId input : node.inputs())
    if (!environment.contains(input))
      return fail(Error(ErrorCode::BadInput, "the environment lacks the value of an operand", {}, 0, node.name()));
  const auto held = environment.find(node.id());
  auto value = node.op() != Opcode::Placeholder
                   ? runOn(node, [&](NodeId id) -> const Value& { return environment.at(id); })
               : held == environment.end() ? runDefault(node)
                                           : placeholder(node, held->second);
  if (!value) return fail(located(std::move(value).error(), node));
  return value;
}

Result<Value> Interpreter::runIn(Frame& frame, const Node& node) {
  if (node.op() == Opcode::Placeholder) return runPlaceholder(frame, node);
  return runOn(node, [&](NodeId id) -> const Value& { return frame.valueOf(id); });
}

Result<Value> Interpreter::runOn(const Node& node, const std::function<const Value&(NodeId)>& lookup) {
  if (node.op() == Opcode::GetAttr) return getAttr(node);
  KERF_TRY(const CallValues call, callValues(node, lookup));
  const auto& [args, kwargs] = call;
  if (node.op() == Opcode::CallFunction) return callFunction(node, args, kwargs);
  if (node.op() == Opcode::CallMethod) return callMethod(node, args, kwargs);
  if (node.op() == Opcode::CallModule) return callModule(node, args, kwargs);
  return output(node, args.empty() ? Value() : args.front());
}

Result<Value> Interpreter::runPlaceholder(Frame& frame, const Node& node) {
  if (frame.nextInput < frame.inputs.size()) return placeholder(node, frame.inputs[frame.nextInput++]);
  return runDefault(node);
}

Result<Value> Interpreter::runDefault(const Node& node) {
  if (node.args().empty()) {
    const std::size_t given = m_frame ? m_frame->inputs.size() : 0;
    return fail(ErrorCode::BadInput, "no value was given for input '{}' ({} were given)", node.name(), given);
  }
  static const Value none;
  KERF_TRY(const Value value, argumentToValue(node.args().front(), [](NodeId) -> const Value& { return none; }));
  return placeholder(node, value);
}

Result<Value> Interpreter::placeholder(const Node&, const Value& input) { return input; }

Result<Value> Interpreter::callFunction(const Node& node, const ValueList& args, const KeywordValues& kwargs) {
  const OpTarget target(node.opId(), node.target());
  if (node.target().starts_with("torch.ops.higher_order."))
    return m_ops.callHigherOrder(target, args, kwargs, Subgraphs(*this));
  return m_ops.call(target, args, kwargs);
}

Result<Value> Interpreter::callMethod(const Node& node, const ValueList& args, const KeywordValues& kwargs) {
  auto direct = m_ops.call("method." + node.target(), args, kwargs);
  if (direct || direct.error().code != ErrorCode::UnsupportedOp) return direct;
  Error first{ErrorCode::UnsupportedOp, fmt::format("unknown tensor method '{}'", node.target()), {}, 0, {}, {}};
  for (const std::string_view overload : methodOverloads) {
    auto result = m_ops.call(fmt::format("torch.ops.aten.{}.{}", node.target(), overload), args, kwargs);
    if (result) return result;
    const bool mayFitAnother = result.error().code == ErrorCode::ShapeMismatch;
    if (result.error().code == ErrorCode::UnsupportedOp) continue;
    if (!mayFitAnother) return result;
    if (first.code == ErrorCode::UnsupportedOp) first = std::move(result).error();
  }
  return fail(std::move(first));
}

Result<Value> Interpreter::callModule(const Node& node, const ValueList& args, const KeywordValues& kwargs) {
  ValueList inputs = args;
  for (const auto& [key, value] : kwargs) inputs.push_back(value);
  const Submodule* found = m_module.submodule(node.target());
  if (found != nullptr && !found->graph)
    return m_ops.call(fmt::format("module:{}={}", node.target(), found->repr), inputs, {});
  return runSubgraph(node.target(), inputs);
}

Result<Value> Interpreter::runSubgraph(std::string_view path, const ValueList& args) const {
  const Submodule* found = m_module.submodule(path);
  if (found == nullptr) return fail(ErrorCode::NotFound, "there is no submodule '{}'", path);
  if (!found->graph)
    return fail(ErrorCode::UnsupportedOp, "submodule '{}' ({}) has no graph to run", path, found->repr);
  if (m_progress->depth >= limits.depth)
    return fail(ErrorCode::TooLarge, "more than {} graphs run inside each other", limits.depth);
  if (onSubgraph) onSubgraph(path, *found->graph, args);
  Interpreter nested(*found->graph, m_ops);
  nested.limits = limits;
  nested.m_progress = m_progress;
  ++m_progress->depth;
  auto result = nested.run(args, m_stop);
  --m_progress->depth;
  return result;
}

Result<Value> Interpreter::getAttr(const Node& node) {
  if (const TensorAttribute* attribute = m_module.attribute(node.target())) {
    if (attribute->tensor.defined()) return Value(attribute->tensor);
    return fail(ErrorCode::UnsupportedOp, "attribute '{}' has no value", node.target());
  }
  if (m_module.submodule(node.target()) != nullptr) return Value(node.target());
  const GraphModule* owner = &m_module;
  std::string_view path = node.target();
  for (std::size_t dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.')) {
    const Submodule* next = owner->submodule(path.substr(0, dot));
    if (next == nullptr || !next->graph) break;
    owner = next->graph.get();
    path.remove_prefix(dot + 1);
    if (const TensorAttribute* attribute = owner->attribute(path); attribute && attribute->tensor.defined())
      return Value(attribute->tensor);
  }
  return fail(ErrorCode::NotFound, "there is no attribute '{}'", node.target());
}

Result<Value> Interpreter::output(const Node&, const Value& value) { return value; }

}  // namespace kerf::inline ir
