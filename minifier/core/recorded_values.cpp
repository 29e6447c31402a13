// RecordedValues: interpreter runs that keep the most values that fit, on copies where the graph writes into its
// inputs.
#include "minifier/core/recorded_values.h"

#include <algorithm>
#include <memory>
#include <unordered_map>

#include "engine/ir/interpreter.h"
#include "engine/ops/core/memory_use.h"
#include "engine/ops/core/op_registry.h"
#include "engine/ops/core/purity.h"
#include "engine/ops/random/state.h"
#include "engine/process/fork_gate.h"
#include "minifier/core/copied_values.h"
#include "minifier/core/run_copy.h"
#include "minifier/core/tensor_like.h"

namespace kerf::inline minifier::inline core {

namespace {

/// How a value looks at memory, without keeping it alive.
struct MemoryView {
  explicit MemoryView(const Value& value)
      : skeleton(mapTensors(value, [&](const Tensor& tensor) {
          storages.push_back(tensor.storage());
          return Value(
              markedAs(Tensor(nullptr, tensor.dtype(), tensor.sizes(), tensor.strides(), tensor.offset()), tensor));
        })) {}

  bool looksAt(const Storage* storage) const {
    return std::ranges::any_of(storages, [&](const auto& own) { return own.lock().get() == storage; });
  }
  /// Copies of what is there now; none if some of it is gone.
  std::optional<Value> now() const {
    std::size_t next = 0;
    bool complete = true;
    Value value = mapTensors(skeleton, [&](const Tensor& like) -> Value {
      const StoragePtr storage = storages[next++].lock();
      const auto copy =
          storage ? Tensor(storage, like.dtype(), like.sizes(), like.strides(), like.offset()).clonePreservingStrides()
                  : Result<Tensor>(Tensor());
      complete = complete && storage && copy;
      return complete ? Value(markedAs(*copy, like)) : Value();
    });
    return complete ? std::optional(std::move(value)) : std::nullopt;
  }

  std::vector<std::weak_ptr<Storage>> storages;  ///< one for each tensor; before the skeleton, which fills it
  Value skeleton;                                ///< the value with tensors that have no storage
};

}  // namespace

std::vector<NodeId> writtenBy(const Node& node) {
  std::vector<NodeId> written;
  if (node.op() == Opcode::Placeholder || node.op() == Opcode::GetAttr || node.op() == Opcode::Output) return written;
  forEachMemoryUse(node, [&](const Argument& argument, bool writes, bool) {
    if (writes) forEachNode(argument, [&](NodeId id) { written.push_back(id); });
  });
  return written;
}

/// One run: what it holds, and, in the first one, who wrote where.
class RecordedValues::Run {
 public:
  explicit Run(RecordedValues& owner)
      : m_owner(owner), m_graph(owner.m_candidate.module.graph), m_isFirst(owner.m_runs++ == 0) {}

  Result<void> operator()() {
    KERF_TRY(RunCopy copy, runCopy(m_owner.m_candidate));
    const bool isPruned = m_isFirst ? !m_owner.m_writes : m_owner.m_held.overflowed();
    if (isPruned && !m_owner.m_held.pinned().empty()) keepWhatIsPinned(copy.module.graph);
    const RandomScope random;
    Interpreter interpreter(copy.module, referenceOps());
    interpreter.onNode = [&](const Node& node, const Value& value) { computed(node, value); };
    interpreter.start(copy.inputs, m_owner.m_stop);
    for (bool more = true; more;) {
      const Node* next = interpreter.nextNode();
      const std::vector<NodeId> written = next ? writtenBy(*next) : std::vector<NodeId>{};
      for (const NodeId id : written) detach(id);
      const NodeId writer = next ? next->id() : NodeId{};
      Result<bool> stepped = false;
      withoutForks([&] { stepped = interpreter.step(); });  // queries are started by other threads meanwhile
      KERF_TRY(more, stepped);
      for (const NodeId id : written) noteWrite(writer, id);
    }
    return {};
  }

 private:
  /// Only what the pinned values are computed from, and what writes or draws random numbers.
  void keepWhatIsPinned(Graph& graph) const {
    if (!graph.outputNode().valid()) return;
    ArgumentList pinned;
    for (const ValueVersion& version : m_owner.m_held.pinned()) pinned.emplace_back(version.node);
    graph.setArgs(graph.outputNode(), {Argument::tuple(std::move(pinned))});
    graph.eliminateDeadCode([](const Node& node) { return purityOf(node) != Purity::Pure; });
  }

  void computed(const Node& node, const Value& value) {
    if (node.op() == Opcode::Output) return;
    m_owner.m_held.hold({node.id(), 0}, value);
    if (!m_owner.m_writes) return;  // nobody asks who shares memory
    const MemoryView& view = m_views.insert_or_assign(node.id(), MemoryView(value)).first->second;
    forEachTensor(value, [&](const Tensor& tensor) {
      auto& sharers = m_sharing[tensor.storage().get()];
      if (sharers.empty() || sharers.back() != node.id()) sharers.push_back(node.id());
    });
    if (m_isFirst) noteViewed(node, view);
  }

  void noteViewed(const Node& node, const MemoryView& view) {
    for (const NodeId operand : node.inputs()) {
      const auto other = m_views.find(operand);
      if (other == m_views.end()) continue;
      const bool shares = std::ranges::any_of(other->second.storages, [&](const auto& weak) {
        const StoragePtr storage = weak.lock();
        return storage && view.looksAt(storage.get());
      });
      if (!shares) continue;
      m_owner.m_viewed.emplace(node.id(), operand);
      return;
    }
  }

  /// Before a call writes: what is held of that memory keeps its bytes in a copy.
  void detach(NodeId written) {
    forEachStorage(written, [&](const Storage* storage) {
      const auto own = [&](const Tensor& tensor) -> Value {
        if (tensor.storage().get() != storage) return tensor;
        const auto copy = tensor.clonePreservingStrides();
        return copy ? markedAs(*copy, tensor) : tensor;
      };
      for (const NodeId sharer : sharersOf(storage)) {
        for (const ValueVersion& version : m_owner.m_held.versionsOf(sharer)) {
          const Value* held = m_owner.m_held.find(version);  // holding a copy of one may have sent another away
          bool looksThere = false;
          if (held)
            forEachTensor(*held, [&](const Tensor& tensor) { looksThere |= tensor.storage().get() == storage; });
          if (looksThere) m_owner.m_held.hold(version, mapTensors(*held, own));
        }
      }
    });
  }

  /// After it: everybody who looks at that memory has a new version.
  void noteWrite(NodeId writer, NodeId written) {
    forEachStorage(written, [&](const Storage* storage) {
      for (const NodeId sharer : sharersOf(storage)) {
        if (sharer == writer) continue;  // add_ gives what it wrote
        const std::size_t version = versionAfter(sharer, writer);
        if (version == 0 || !isUsedAfter(sharer, writer)) continue;
        if (auto now = m_views.at(sharer).now()) m_owner.m_held.hold({sharer, version}, *now);
      }
    });
  }

  /// Which version of `sharer` the write makes; 0: none. Runs that compute less than the first do not see all writes.
  std::size_t versionAfter(NodeId sharer, NodeId writer) {
    auto& writers = m_owner.m_writers[sharer];
    if (m_isFirst && (writers.empty() || writers.back() != writer)) writers.push_back(writer);
    const auto found = std::ranges::find(writers, writer);
    return found == writers.end() ? 0 : std::size_t(found - writers.begin()) + 1;
  }

  template <class Visit>
  void forEachStorage(NodeId node, const Visit& visit) const {
    const auto view = m_views.find(node);
    if (view == m_views.end()) return;
    for (const auto& weak : view->second.storages)
      if (const StoragePtr storage = weak.lock()) visit(storage.get());
  }

  std::vector<NodeId> sharersOf(const Storage* storage) const {
    std::vector<NodeId> sharers;
    for (const NodeId id : m_sharing.at(storage))  // where memory was used again, some of them looked at the old one
      if (m_views.at(id).looksAt(storage)) sharers.push_back(id);
    return sharers;
  }

  bool isUsedAfter(NodeId node, NodeId writer) const {
    const auto position = [&](NodeId id) { return m_owner.m_positions[id.index]; };
    return std::ranges::any_of(m_graph.node(node).users(),
                               [&](NodeId user) { return position(user) > position(writer); });
  }

  RecordedValues& m_owner;
  const Graph& m_graph;
  bool m_isFirst;
  std::unordered_map<NodeId, MemoryView> m_views;
  std::unordered_map<const Storage*, std::vector<NodeId>> m_sharing;
};

RecordedValues::RecordedValues(const Candidate& candidate, std::stop_token stop, std::int64_t budget)
    : m_candidate(candidate), m_stop(std::move(stop)), m_held(budget) {
  for (const Value& input : candidate.inputs) m_held.exempt(input);
  for (const auto& [path, attribute] : candidate.module.attributes) m_held.exempt(attribute.tensor);
  std::size_t position = 0;
  for (const NodeId id : candidate.module.graph.order()) {
    if (m_positions.size() <= id.index) m_positions.resize(id.index + std::size_t{1});
    m_positions[id.index] = position++;
    m_writes = m_writes || !writtenBy(candidate.module.graph.node(id)).empty();
  }
}

RecordedValues::~RecordedValues() = default;

void RecordedValues::record(std::vector<ValueVersion> pinned) {
  m_held.restart(std::move(pinned));
  m_compact.clear();
  (void)Run (*this)();  // an error only means that later nodes have no value
}

const std::vector<NodeId>& RecordedValues::writersOf(NodeId node) {
  static const std::vector<NodeId> nobody;
  if (!m_writes) return nobody;
  if (m_runs == 0) record({});
  const auto found = m_writers.find(node);
  return found == m_writers.end() ? nobody : found->second;
}

NodeId RecordedValues::viewedBy(NodeId node) {
  if (m_writes && m_runs == 0) record({});
  const auto found = m_viewed.find(node);
  return found == m_viewed.end() ? NodeId{} : found->second;
}

ValueVersion RecordedValues::seenBy(NodeId node, NodeId user) {
  ValueVersion version{node, 0};
  for (const NodeId writer : writersOf(node))
    if (m_positions[writer.index] < m_positions[user.index]) ++version.writes;
  return version;
}

void RecordedValues::require(std::span<const ValueVersion> wanted) {
  const auto areHeld = [&] {
    return std::ranges::all_of(wanted, [&](const auto& version) { return m_held.find(version) != nullptr; });
  };
  if (m_runs > 0 && areHeld()) return;
  std::vector<ValueVersion> pinned(wanted.begin(), wanted.end());
  std::ranges::sort(pinned);
  if (m_runs > 0 && pinned == m_held.pinned()) return;  // they cannot be computed
  record(std::move(pinned));
}

const Value* RecordedValues::compact(const ValueVersion& version) {
  if (const auto known = m_compact.find(version); known != m_compact.end()) return &known->second;
  const Value* held = m_held.find(version);
  if (held == nullptr) return nullptr;
  auto value = compacted(*held);
  return value ? &m_compact.insert_or_assign(version, std::move(*value)).first->second : nullptr;
}

}  // namespace kerf::inline minifier::inline core
