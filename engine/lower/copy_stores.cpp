#include "engine/lower/copy_stores.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <unordered_map>

#include "engine/lower/memory_reach.h"
#include "engine/lower/shared_buffers.h"
#include "engine/ops/core/op_registry.h"
#include "engine/ops/core/strides.h"

namespace kerf::inline lower {
namespace {

bool isCopy(const Node& node) { return node.isCall("aten.copy_.default"_op); }

/// Whether no two elements lie in one place.
bool isInjectiveView(const BufferView& view) {
  if (view.sizes.isSymbolic() || view.strides.isSymbolic())
    return sameSizes(view.strides, contiguousStrides(view.sizes));
  return isInjective(view.sizes.numbers(), view.strides.numbers());
}

/// Parts of the names of ops that fail for some values, beside those that take indices.
constexpr std::string_view checkedOps[] = {
    "linalg", "cholesky",       "inverse", "lu_",         "eig",       "svd",     "qr",
    "histc",  "masked_scatter", "assert",  "multinomial", "bernoulli", "poisson", "binary_cross_entropy"};

/// Whether an extern call may fail for what its operands' elements are.
bool mayFail(const ValueTable& values, NodeId id) {
  const Node& node = values.graph().node(id);
  if (isCopy(node) || node.isCall("operator.getitem"_op)) return false;
  const OpInfo* op = node.op() == Opcode::CallFunction ? findOp(node) : nullptr;
  if (op == nullptr || (!values[id].isTensor && !node.meta().value.list())) return true;
  const auto isPart = [&](std::string_view part) { return op->schema.name.find(part) != std::string::npos; };
  return std::ranges::any_of(checkedOps, isPart) || std::ranges::any_of(node.inputs(), [&](NodeId input) {
           return values[input].isTensor && isIntegral(values[input].dtype) && values[input].dtype != DType::Bool;
         });
}

class CopyPlanner {
 public:
  CopyPlanner(const ValueTable& values, BufferTable& buffers, FusionPlan& plan)
      : m_values(values), m_buffers(buffers), m_groups(plan.groups), m_shared(values, buffers) {
    m_order.resize(m_groups.size());
    std::iota(m_order.begin(), m_order.end(), 0);
    m_doneBy.assign(m_groups.size(), -1);
    for (std::size_t g = 0; g < m_groups.size(); ++g) {
      m_uses.push_back(usesOf(m_groups[g]));
      for (const int memory : m_uses.back().touched) m_touching[memory].push_back(int(g));
      for (const auto& member : m_groups[g].members)
        if (!m_groups[g].isExtern && member.part == MemberPart::Whole) m_groupOf[member.node] = int(g);
    }
    number();
  }

  Result<void> run() {
    if (!staysWithinBuffers(m_values, m_buffers)) return {};
    KERF_CHECK(findFailing());
    const std::vector<int> order = m_order;
    for (const int g : order)
      if (m_groups[std::size_t(g)].isExtern) KERF_CHECK(tryStore(g));
    rearrange();
    return {};
  }

 private:
  /// Memory that a step touches, and that of it which it writes.
  struct Uses {
    std::set<int> touched, written;
  };

  int memoryOf(NodeId id) const {
    const int buffer = m_buffers.memoryOf(id);
    return buffer < 0 ? -1 : m_shared.memory(buffer);
  }

  Uses usesOf(const FusionGroup& group) const {
    Uses uses;
    const auto note = [&](NodeId id, bool writes) {
      const int memory = memoryOf(id);
      if (memory < 0) return;
      uses.touched.insert(memory);
      if (writes) uses.written.insert(memory);
    };
    for (const NodeId read : group.reads) note(read, false);
    bool looksOn = false;  // at what it was given, which it leaves as it is
    if (group.isExtern)
      for (const ExternUse& use : externUses(m_values.graph().node(group.members[0].node))) {
        note(use.value, use.writes);
        looksOn |= use.shares;
      }
    for (const auto& member : group.members) note(member.node, !looksOn);
    return uses;
  }

  /// What a copy may become, if nothing is in its way.
  std::optional<CopyStore> storeFor(const FusionGroup& group) const {
    const NodeId copy = group.members[0].node;
    const ValueInfo& info = m_values[copy];
    if (!isCopy(m_values.graph().node(copy)) || info.alone || !info.isTensor || info.operandNodes.size() < 2) return {};
    const NodeId self = info.operandNodes[0], value = info.operandNodes[1];
    if (!self.valid() || !value.valid() || !m_groupOf.contains(value) || m_values[value].alone) return {};
    const BufferView* into = m_buffers.view(self);
    if (into == nullptr || !m_buffers.hasBuffer(copy)) return {};
    const BufferInfo& buffer = m_buffers.buffers()[std::size_t(into->buffer)];
    if (buffer.kind != BufferKind::Input || !isGeneratable(buffer.dtype)) return {};
    if (buffer.dtype != m_values[self].dtype || buffer.dtype != info.dtype) return {};
    if (!sameSizes(m_values[value].sizes, into->sizes) || !sameSizes(info.sizes, into->sizes)) return {};
    if (!sameSizes(info.strides, into->strides) || !isInjectiveView(*into) || !isOnOneDevice(self, value)) return {};
    return CopyStore{copy, value, *into};
  }

  bool isOnOneDevice(NodeId a, NodeId b) const {
    const TensorMeta* first = m_values.graph().node(a).meta().value.tensor();
    const TensorMeta* second = m_values.graph().node(b).meta().value.tensor();
    return first && second && first->device == second->device;
  }

  Result<void> tryStore(int g) {
    const auto store = storeFor(m_groups[std::size_t(g)]);
    if (!store) return {};
    const int kernel = m_groupOf.at(store->value), memory = m_shared.memory(store->into.buffer);
    KERF_TRY(const bool fits, storesInPlace(m_groups[std::size_t(kernel)], *store));
    if (!fits) return {};
    if (const int last = lastInTheWay(kernel, g, *store); last >= 0 && !moveBehind(kernel, last)) return {};
    m_groups[std::size_t(kernel)].copies.push_back(*store);
    Uses& uses = m_uses[std::size_t(kernel)];
    if (uses.touched.insert(memory).second) m_touching[memory].push_back(kernel);
    uses.written.insert(memory);
    m_doneBy[std::size_t(g)] = kernel;
    m_buffers.moveTo(store->copy, store->into);
    return {};
  }

  /// The last place between a kernel and a copy where something looks at the memory that is written, writes into what
  /// is copied, or may fail: then the input must be what it was. -1: none.
  int lastInTheWay(int kernel, int copy, const CopyStore& store) const {
    const int from = m_place[std::size_t(kernel)], to = m_place[std::size_t(copy)], value = memoryOf(store.value);
    int last = -1;
    const auto look = [&](const std::vector<int>& groups, auto&& counts) {
      for (const int g : groups) {
        const int at = m_place[std::size_t(g)];
        if (from < at && at < to && m_doneBy[std::size_t(g)] < 0 && counts(m_uses[std::size_t(g)]))
          last = std::max(last, at);
      }
    };
    const auto any = [](const Uses&) { return true; };
    if (const auto found = m_touching.find(m_shared.memory(store.into.buffer)); found != m_touching.end())
      look(found->second, any);
    look(m_touching.at(value), [&](const Uses& uses) { return uses.written.contains(value); });
    look(m_failing, any);
    return last;
  }

  Result<void> findFailing() {
    for (std::size_t g = 0; g < m_groups.size(); ++g) {
      KERF_TRY(const bool may, mayFailAt(m_groups[g]));
      if (may) m_failing.push_back(int(g));
    }
    return {};
  }

  Result<bool> mayFailAt(const FusionGroup& group) const {
    if (group.isExtern) return mayFail(m_values, group.members[0].node);
    Kernel kernel;
    ElementBuilder builder(m_values, m_buffers, kernel.loops);
    KERF_CHECK(build(group, builder, kernel));
    return !builder.indexChecks().empty();
  }

  struct Kernel {
    LoopKernel loops;
    std::unordered_map<NodeId, const ElementBuilder::Member*> members;
  };

  static Result<void> build(const FusionGroup& group, ElementBuilder& builder, Kernel& kernel) {
    kernel.loops.variables = group.variables;
    for (const auto& member : group.members) {
      if (member.part == MemberPart::Writes)
        KERF_CHECK(builder.writes(member));
      else
        KERF_CHECK(builder.member(member));
      kernel.members[member.node] = &member;
    }
    return {};
  }

  /// Whether a kernel may store there: it reads that memory nowhere else than at the very element that it stores, and
  /// never after that.
  Result<bool> storesInPlace(const FusionGroup& group, const CopyStore& store) const {
    const int memory = m_shared.memory(store.into.buffer);
    const auto isSame = [&](const CopyStore& other) { return m_shared.memory(other.into.buffer) == memory; };
    if (std::ranges::any_of(group.copies, isSame)) return false;
    Kernel kernel;
    ElementBuilder builder(m_values, m_buffers, kernel.loops);
    KERF_CHECK(build(group, builder, kernel));
    const ElementBuilder::Member& member = *kernel.members.at(store.value);
    const Affine place = flatten(resultMap(*member.space, member.assignment), store.into.strides, store.into.offset);
    const auto touches = [&](const Expr& e) {
      return isLoad(e.op) && m_shared.memory(builder.arguments()[std::size_t(e.buffer)].buffer) == memory;
    };
    const auto isThere = [&](const Expr& e) {
      const auto& argument = builder.arguments()[std::size_t(e.buffer)];
      Affine index = e.index;
      index.constant += argument.offset;
      return e.op != ExprOp::LoadAt && argument.buffer == store.into.buffer && index == place;
    };
    if (!std::ranges::all_of(kernel.loops.exprs, [&](const Expr& e) { return !touches(e) || isThere(e); }))
      return false;
    return std::ranges::none_of(kernel.loops.exprs, touches) || isReadOnce(kernel.loops, place);
  }

  /// Whether the iteration that stores an element is the only one that reads it: not so in several loops over a row.
  static bool isReadOnce(const LoopKernel& kernel, const Affine& place) {
    const auto isCarry = [](const Expr& e) { return e.op == ExprOp::Carry; };
    if (std::ranges::any_of(kernel.exprs, isCarry)) return false;
    bool isOfRow = false;
    for (std::size_t v = 0; v < kernel.variables.size(); ++v)
      isOfRow |= kernel.variables[v].reduced && !isZero(place.coefficient(v));
    if (!isOfRow) return true;
    const ExprPlacement placement = placeExpressions(kernel);
    for (std::size_t e = 0; e < kernel.exprs.size(); ++e) {
      const bool isElement = placement.level[e] == 2;
      if (placement.phase[e] > (isElement ? 0 : 1)) return false;
    }
    return true;
  }

  /// Puts a group behind the place `last`, if none from there to it needs it to come first. One that may fail stays:
  /// what comes behind it in the graph must not have been written then.
  bool moveBehind(int kernel, int last) {
    if (std::ranges::find(m_failing, kernel) != m_failing.end()) return false;
    const int from = m_place[std::size_t(kernel)];
    for (int at = from + 1; at <= last; ++at) {
      const int other = m_order[std::size_t(at)];
      if (m_doneBy[std::size_t(other)] < 0 && !areApart(m_uses[std::size_t(kernel)], m_uses[std::size_t(other)]))
        return false;
    }
    std::rotate(m_order.begin() + from, m_order.begin() + from + 1, m_order.begin() + last + 1);
    number();
    return true;
  }

  static bool areApart(const Uses& a, const Uses& b) {
    const auto isIn = [](const std::set<int>& set) { return [&set](int memory) { return set.contains(memory); }; };
    return std::ranges::none_of(a.written, isIn(b.touched)) && std::ranges::none_of(b.written, isIn(a.touched));
  }

  void number() {
    m_place.resize(m_groups.size());
    for (std::size_t at = 0; at < m_order.size(); ++at) m_place[std::size_t(m_order[at])] = int(at);
  }

  /// The groups that are left, in their order.
  void rearrange() {
    std::erase_if(m_order, [&](int g) { return m_doneBy[std::size_t(g)] >= 0; });
    number();
    const auto placeOf = [&](int g) {
      const int by = m_doneBy[std::size_t(g)];
      return m_place[std::size_t(by < 0 ? g : by)];
    };
    std::vector<FusionGroup> left;
    for (const int g : m_order) {
      left.push_back(std::move(m_groups[std::size_t(g)]));
      for (int& d : left.back().dependencies) d = placeOf(d);
    }
    m_groups = std::move(left);
  }

  const ValueTable& m_values;
  BufferTable& m_buffers;
  std::vector<FusionGroup>& m_groups;
  const SharedBuffers m_shared;
  std::vector<Uses> m_uses;                              ///< by group
  std::unordered_map<int, std::vector<int>> m_touching;  ///< groups, by memory
  std::vector<int> m_failing;                            ///< groups that may fail
  std::vector<int> m_order;                              ///< groups as they will run
  std::vector<int> m_place;                              ///< of each in m_order
  std::vector<int> m_doneBy;                             ///< by group: the kernel that does this copy; -1: none
  std::unordered_map<NodeId, int> m_groupOf;             ///< of values that kernels compute whole
};

}  // namespace

Result<void> storeCopies(const ValueTable& values, BufferTable& buffers, FusionPlan& plan) {
  const auto isCall = [&](NodeId id) { return isCopy(values.graph().node(id)); };
  if (std::ranges::none_of(values.graph().order(), isCall)) return {};
  return CopyPlanner(values, buffers, plan).run();
}

}  // namespace kerf::inline lower
