// RecordedValues: interpreter runs that keep the most values that fit, on copies where the graph writes into its
// inputs.
#include "minifier/core/recorded_values.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "engine/accuracy/own_attributes.h"
#include "engine/ir/interpreter.h"
#include "engine/ops/core/memory_writes.h"
#include "engine/ops/core/op_registry.h"
#include "engine/ops/core/purity.h"
#include "engine/ops/random/state.h"

namespace kerf::inline minifier::inline core {

namespace {

bool isData(const Value& value) { return value.isTensor() && value.tensor().defined(); }

/// Every tensor with data in `value`, items of lists too.
template <class Visit>
void forEachTensor(const Value& value, const Visit& visit) {
  if (isData(value)) visit(value.tensor());
  if (value.isList())
    for (const Value& item : value.list()) forEachTensor(item, visit);
}

/// The nodes whose memory a call writes into.
std::vector<NodeId> writtenBy(const Node& node) {
  std::vector<NodeId> written;
  if (node.op() == Opcode::Placeholder || node.op() == Opcode::GetAttr || node.op() == Opcode::Output) return written;
  forEachMemoryUse(node, [&](const Argument& argument, bool writes, bool) {
    if (writes) forEachNode(argument, [&](NodeId id) { written.push_back(id); });
  });
  return written;
}

std::vector<std::string> writtenAttributes(const MemoryWrites& writes) {
  std::vector<std::string> paths;
  for (const auto& [path, answer] : writes.attributes) paths.push_back(path);
  return paths;
}

bool writesInputs(const MemoryWrites& writes) {
  return std::ranges::any_of(writes.placeholders, [](auto answer) { return answer != MemoryWrites::Answer::No; });
}

}  // namespace

/// One run: what it holds, and who wrote where.
class RecordedValues::Run {
 public:
  explicit Run(RecordedValues& owner) : m_owner(owner), m_graph(owner.m_candidate.module.graph) {
    for (const Value& input : owner.m_candidate.inputs)
      forEachTensor(input, [&](const Tensor& tensor) { m_free.insert(tensor.storage().get()); });
  }

  Result<void> operator()() {
    const MemoryWrites writes = memoryWrites(m_owner.m_candidate.module);
    KERF_TRY(GraphModule module, withOwnAttributes(m_owner.m_candidate.module, writtenAttributes(writes)));
    const bool isFirst = m_owner.m_runs++ == 0;
    if (!m_owner.m_pinned.empty() && (isFirst || m_owner.m_overflowed)) keepWhatIsPinned(module.graph);
    ValueList inputs = m_owner.m_candidate.inputs;
    if (writesInputs(writes)) {
      KERF_TRY(inputs, copyInputs(inputs));
    }
    const RandomScope random;
    Interpreter interpreter(module, referenceOps());
    interpreter.onNode = [&](const Node& node, const Value& value) { computed(node, value); };
    interpreter.start(inputs, m_owner.m_stop);
    for (bool more = true; more;) {
      const Node* next = interpreter.nextNode();
      const std::vector<NodeId> written = next ? writtenBy(*next) : std::vector<NodeId>{};
      detach(written);
      const NodeId writer = next ? next->id() : NodeId{};
      KERF_TRY(more, interpreter.step());
      for (const NodeId id : written) noteWrite(writer, id);
    }
    return {};
  }

 private:
  using Shares = std::unordered_map<const Storage*, std::vector<NodeId>>;

  /// Only what the pinned values are computed from, and what writes or draws random numbers.
  void keepWhatIsPinned(Graph& graph) const {
    if (!graph.outputNode().valid()) return;
    ArgumentList pinned;
    for (const ValueVersion& version : m_owner.m_pinned) pinned.emplace_back(version.node);
    graph.setArgs(graph.outputNode(), {Argument::tuple(std::move(pinned))});
    graph.eliminateDeadCode([](const Node& node) { return purityOf(node) != Purity::Pure; });
  }

  void computed(const Node& node, const Value& value) {
    if (node.op() == Opcode::Output) return;
    hold({node.id(), 0}, value);
    if (isData(value)) {
      m_views.insert_or_assign(node.id(), View{value.tensor(), value.tensor().storage()});
      View& view = m_views.at(node.id());
      view.tensor =
          Tensor(nullptr, view.tensor.dtype(), view.tensor.sizes(), view.tensor.strides(), view.tensor.offset());
      m_sharing[value.tensor().storage().get()].push_back(node.id());
    }
  }

  void hold(const ValueVersion& version, const Value& value) {
    m_owner.m_held.insert_or_assign(version, value);
    std::int64_t own = 0;
    forEachTensor(value, [&](const Tensor& tensor) {
      const Storage* storage = tensor.storage().get();
      if (m_free.contains(storage)) return;
      if (m_holders[storage]++ == 0) own += storage->bytes();
    });
    m_bytes += own;
    if (std::ranges::binary_search(m_owner.m_pinned, version)) return;
    m_bySize.emplace(largest(value), version);
    while (m_bytes > m_owner.m_budget && !m_bySize.empty()) {
      drop(std::prev(m_bySize.end()));
      m_owner.m_overflowed = true;
    }
  }

  std::int64_t largest(const Value& value) const {
    std::int64_t bytes = 0;
    forEachTensor(value, [&](const Tensor& tensor) {
      if (!m_free.contains(tensor.storage().get())) bytes = std::max(bytes, tensor.storage()->bytes());
    });
    return bytes;
  }

  void drop(std::set<std::pair<std::int64_t, ValueVersion>>::iterator entry) {
    const auto held = m_owner.m_held.find(entry->second);
    forEachTensor(held->second, [&](const Tensor& tensor) {
      const auto holders = m_holders.find(tensor.storage().get());
      if (holders == m_holders.end() || --holders->second > 0) return;
      m_bytes -= tensor.storage()->bytes();
      m_holders.erase(holders);
    });
    m_owner.m_held.erase(held);
    m_bySize.erase(entry);
  }

  /// Before a call writes: what is held of that memory keeps its bytes in a copy.
  void detach(const std::vector<NodeId>& written) {
    for (const NodeId id : written) {
      for (const NodeId sharer : sharersOf(id)) {
        for (auto held = m_owner.m_held.lower_bound({sharer, 0});
             held != m_owner.m_held.end() && held->first.node == sharer; ++held) {
          if (!isData(held->second) || held->second.tensor().storage() != m_views.at(sharer).storage.lock()) continue;
          if (auto copy = held->second.tensor().clonePreservingStrides()) {
            copy->setDevice(held->second.tensor().device());
            held->second = Value(std::move(*copy));
          }
        }
      }
    }
  }

  std::vector<NodeId> sharersOf(NodeId id) const {
    const auto view = m_views.find(id);
    const StoragePtr storage = view == m_views.end() ? nullptr : view->second.storage.lock();
    if (!storage) return {};
    std::vector<NodeId> sharers;
    for (const NodeId other : m_sharing.at(storage.get()))
      if (m_views.at(other).storage.lock() == storage) sharers.push_back(other);
    return sharers;
  }

  /// After it: everybody who looks at that memory has a new version.
  void noteWrite(NodeId writer, NodeId written) {
    const auto view = m_views.find(written);
    const StoragePtr storage = view == m_views.end() ? nullptr : view->second.storage.lock();
    if (!storage) return;
    for (const NodeId sharer : sharersOf(written)) {
      if (sharer == writer) continue;  // add_ gives what it wrote
      auto& writers = m_owner.m_writers[sharer];
      if (!writers.empty() && writers.back() == writer) continue;
      writers.push_back(writer);
      const Tensor& like = m_views.at(sharer).tensor;
      const Tensor now(storage, like.dtype(), like.sizes(), like.strides(), like.offset());
      auto copy = now.clonePreservingStrides();
      if (copy && isUsedAfter(sharer, writer)) hold({sharer, writers.size()}, Value(std::move(*copy)));
    }
  }

  bool isUsedAfter(NodeId node, NodeId writer) const {
    const auto position = [&](NodeId id) { return m_owner.m_positions[id.index]; };
    return std::ranges::any_of(m_graph.node(node).users(),
                               [&](NodeId user) { return position(user) > position(writer); });
  }

  struct View {
    Tensor tensor;  ///< without its storage
    std::weak_ptr<Storage> storage;
  };
  RecordedValues& m_owner;
  const Graph& m_graph;
  std::unordered_map<NodeId, View> m_views;
  Shares m_sharing;
  std::unordered_set<const Storage*> m_free;  ///< the candidate's own inputs: held anyway
  std::unordered_map<const Storage*, int> m_holders;
  std::set<std::pair<std::int64_t, ValueVersion>> m_bySize;
  std::int64_t m_bytes = 0;
};

RecordedValues::RecordedValues(const Candidate& candidate, std::stop_token stop, std::int64_t budget)
    : m_candidate(candidate), m_stop(std::move(stop)), m_budget(budget) {
  std::size_t position = 0;
  for (const NodeId id : candidate.module.graph.order()) {
    if (m_positions.size() <= id.index) m_positions.resize(id.index + std::size_t{1});
    m_positions[id.index] = position++;
    m_writes = m_writes || !writtenBy(candidate.module.graph.node(id)).empty();
  }
}

RecordedValues::~RecordedValues() = default;

void RecordedValues::record() {
  m_ran = true;
  m_held.clear();
  m_compact.clear();
  m_writers.clear();
  (void)Run (*this)();  // an error only means that later nodes have no value
}

const Value* RecordedValues::find(NodeId node) {
  if (node.index >= m_positions.size()) return nullptr;
  const ValueVersion version{node, 0};
  if (!m_ran) record();
  if (!isHeld(version)) require({&version, 1});
  const auto found = m_held.find(version);
  return found == m_held.end() ? nullptr : &found->second;
}

const std::vector<NodeId>& RecordedValues::writersOf(NodeId node) {
  static const std::vector<NodeId> nobody;
  if (!m_writes) return nobody;
  if (!m_ran) record();
  const auto found = m_writers.find(node);
  return found == m_writers.end() ? nobody : found->second;
}

ValueVersion RecordedValues::seenBy(NodeId node, NodeId user) {
  ValueVersion version{node, 0};
  for (const NodeId writer : writersOf(node))
    if (m_positions[writer.index] < m_positions[user.index]) ++version.writes;
  return version;
}

void RecordedValues::require(std::span<const ValueVersion> wanted) {
  if (m_ran && std::ranges::all_of(wanted, [&](const auto& version) { return isHeld(version); })) return;
  std::vector<ValueVersion> pinned(wanted.begin(), wanted.end());
  std::ranges::sort(pinned);
  if (m_ran && pinned == m_pinned) return;  // they cannot be computed
  m_pinned = std::move(pinned);
  record();
}

const Value* RecordedValues::compact(const ValueVersion& version) {
  if (const auto known = m_compact.find(version); known != m_compact.end()) return &known->second;
  const auto held = m_held.find(version);
  if (held == m_held.end()) return nullptr;
  auto value = compacted(held->second);
  return value ? &m_compact.insert_or_assign(version, std::move(*value)).first->second : nullptr;
}

}  // namespace kerf::inline minifier::inline core
