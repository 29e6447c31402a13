#include "engine/lower/fusion.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <unordered_map>

#include "engine/lower/group_order.h"
#include "engine/lower/lowering_fit.h"
#include "engine/ops/core/op_registry.h"

namespace kerf::inline lower {
namespace {

constexpr std::size_t maxMembers = 24;
constexpr int maxCost = 600;
/// Groups looked at for one value beside those of its producers.
constexpr std::size_t horizontalCandidates = 8;

struct Read {
  NodeId node;
  std::optional<IndexMap> map;  ///< over the reader's own variables
};

/// A computed value waiting for a group.
struct Candidate {
  NodeId node;
  MemberPart part = MemberPart::Whole;
  LoopSpace* space = nullptr;
  std::vector<Read> reads;
  std::vector<int> dependencies;
  int segment = 0;
  int cost = 0;
};

/// A way to put a candidate's variables onto a group's: its own assignment, and where the group's move if they do.
struct Placement {
  std::vector<int> assignment;
  std::vector<LoopVariable> variables;
  std::vector<int> moved;  ///< new index of every old group variable; empty: unchanged
};

std::vector<int> upTo(std::size_t count) {
  std::vector<int> result(count);
  std::iota(result.begin(), result.end(), 0);
  return result;
}

SymSizes sizesOf(const std::vector<LoopVariable>& variables) {
  SymSizes sizes;
  for (const auto& v : variables) sizes.push_back(v.size);
  return sizes;
}

std::vector<int> outerVariables(const std::vector<LoopVariable>& variables) {
  std::vector<int> result;
  for (std::size_t v = 0; v < variables.size(); ++v)
    if (!variables[v].reduced) result.push_back(int(v));
  return result;
}

bool anyReduced(const std::vector<LoopVariable>& variables) {
  return std::ranges::any_of(variables, [](const LoopVariable& v) { return v.reduced; });
}

bool outerSizesMatch(const std::vector<LoopVariable>& variables, const std::vector<int>& outer, const SymSizes& sizes) {
  if (outer.size() != sizes.size()) return false;
  for (std::size_t i = 0; i < outer.size(); ++i)
    if (!sameSize(variables[std::size_t(outer[i])].size, sizes[i])) return false;
  return true;
}

std::vector<Placement> placements(const FusionGroup& group, const LoopSpace& space) {
  std::vector<Placement> result;
  const bool groupReduces = anyReduced(group.variables);
  const auto same = upTo(space.variables.size());
  if (sameSizes(sizesOf(group.variables), space.sizes())) {
    if (!space.reduces() || group.variables == space.variables)
      result.push_back({same, group.variables, {}});
    else if (!groupReduces)
      result.push_back({same, space.variables, {}});
  }
  if (groupReduces && !space.reduces()) {
    const auto outer = outerVariables(group.variables);
    if (outerSizesMatch(group.variables, outer, space.sizes())) result.push_back({outer, group.variables, {}});
  }
  if (!groupReduces && space.reduces()) {
    const auto outer = outerVariables(space.variables);
    if (outerSizesMatch(space.variables, outer, sizesOf(group.variables)))
      result.push_back({same, space.variables, outer});
  }
  return result;
}

Affine renamed(const Affine& index, const std::vector<int>& assignment) {
  Affine result = Affine::number(index.constant);
  for (std::size_t v = 0; v < index.coefficients.size(); ++v)
    if (!isZero(index.coefficients[v]))
      result = result + Affine::variable(std::size_t(assignment[v])) * index.coefficients[v];
  return result;
}

std::vector<int> movedAssignment(const std::vector<int>& assignment, const std::vector<int>& moved) {
  if (moved.empty()) return assignment;
  std::vector<int> result;
  for (const int v : assignment) result.push_back(moved[std::size_t(v)]);
  return result;
}

class Fuser {
 public:
  Fuser(const ValueTable& values, const BufferTable& buffers, bool fuse)
      : m_values(values), m_buffers(buffers), m_fuse(fuse) {}

  Result<FusionPlan> run() {
    for (const NodeId id : m_values.graph().order()) {
      askFor(m_values.graph().node(id));
      auto added = add(id);
      if (!added) return fail(std::move(added.error().atNode(m_values.graph().node(id).name())));
    }
    sortGroups();
    return std::move(m_plan);
  }

 private:
  Result<void> add(NodeId id) {
    const ValueInfo& info = m_values[id];
    if (info.kind == ValueKind::Extern) {
      addExtern(id);
      return {};
    }
    if (info.kind == ValueKind::Write) return addWrite(id);
    const bool computed =
        info.kind == ValueKind::Pointwise || info.kind == ValueKind::Reduction || info.kind == ValueKind::Scan;
    if (!computed || !m_buffers.hasBuffer(id)) return {};
    return addComputed(id, MemberPart::Whole);
  }

  Result<void> addComputed(NodeId id, MemberPart part) {
    KERF_TRY(const Candidate candidate, candidateFor(id, part));
    if (m_fuse && !m_values[id].alone && joinSomeGroup(candidate)) return {};
    startGroup(candidate);
    return {};
  }

  /// What fills the value is computed like any other; the writes are a kernel of their own, after it.
  Result<void> addWrite(NodeId id) {
    KERF_CHECK(addComputed(id, MemberPart::Fill));
    KERF_TRY(Candidate writes, candidateFor(id, MemberPart::Writes));
    addDependency(writes.dependencies, id);
    startGroup(writes);
    m_plan.groups.back().writes = true;
    return {};
  }

  void addExtern(NodeId id) {
    FusionGroup group{true, false, m_values[id].segment, 0, {}, {{id, nullptr, {}}}, {}, {}};
    for (const NodeId input : m_values.graph().node(id).inputs()) {
      const NodeId root = m_values.root(input);
      group.reads.push_back(root);
      addDependency(group.dependencies, root);
    }
    const int own = int(m_plan.groups.size());
    if (isOrdered(m_values.graph().node(id))) {
      if (m_lastOrdered >= 0 && std::ranges::find(group.dependencies, m_lastOrdered) == group.dependencies.end())
        group.dependencies.push_back(m_lastOrdered);
      m_lastOrdered = own;
    }
    m_groupOf[id] = own;
    m_plan.groups.push_back(std::move(group));
  }

  /// Random ops draw from one generator, each what is next; nested graphs may.
  static bool isOrdered(const Node& node) {
    const OpInfo* op = findOp(node);
    return op ? has(op->traits, OpTrait::Random) : node.target().starts_with("torch.ops.higher_order.");
  }

  void addDependency(std::vector<int>& dependencies, NodeId root) const {
    const auto found = m_groupOf.find(root);
    if (found != m_groupOf.end() && std::ranges::find(dependencies, found->second) == dependencies.end())
      dependencies.push_back(found->second);
  }

  Result<Candidate> candidateFor(NodeId id, MemberPart part) {
    KERF_TRY(LoopSpace space, loopSpace(m_values, id, part));
    m_plan.spaces.push_back(std::make_unique<LoopSpace>(std::move(space)));
    Candidate candidate{id, part, m_plan.spaces.back().get(), {}, {}, m_values[id].segment, 0};
    LoopKernel scratch;
    scratch.variables = candidate.space->variables;
    ElementBuilder builder(m_values, m_buffers, scratch);
    builder.onRead = [&](NodeId node, const std::optional<IndexMap>& map) {
      candidate.reads.push_back({node, map});
      addDependency(candidate.dependencies, node);
    };
    const ElementBuilder::Member member{id, candidate.space, upTo(scratch.variables.size()), part};
    if (part == MemberPart::Writes)
      KERF_CHECK(builder.writes(member));
    else
      KERF_CHECK(builder.member(member));
    for (const Expr& e : scratch.exprs) candidate.cost += exprOpInfo(e.op).cost;
    return candidate;
  }

  void startGroup(const Candidate& candidate) {
    FusionGroup group{false, false, candidate.segment, candidate.cost, candidate.space->variables, {}, {}, {}};
    m_plan.groups.push_back(std::move(group));
    enter(int(m_plan.groups.size()) - 1, candidate,
          {upTo(candidate.space->variables.size()), candidate.space->variables, {}});
  }

  /// A scan along rows goes an element at a time, and so does what shares its loops: what costs as much as an exponential
  /// is faster by vectors, in a kernel of its own.
  bool wouldSlowDown(const FusionGroup& group, const Candidate& candidate) const {
    constexpr int mostBesideScan = 14;
    if (scansRows(m_values[candidate.node])) return group.cost > mostBesideScan;
    return candidate.cost > mostBesideScan &&
           std::ranges::any_of(group.members, [&](const auto& member) { return scansRows(m_values[member.node]); });
  }

  bool joinSomeGroup(const Candidate& candidate) {
    for (const int g : orderedGroups(candidate)) {
      const FusionGroup& group = m_plan.groups[std::size_t(g)];
      if (group.isExtern || group.writes || group.segment != candidate.segment) continue;
      if (m_values[group.members.front().node].alone || wouldSlowDown(group, candidate)) continue;
      if (group.members.size() >= maxMembers || group.cost + candidate.cost > maxCost) continue;
      if (dependsThroughOthers(candidate, g)) continue;
      for (const Placement& placement : placements(group, *candidate.space)) {
        if (!readsFit(candidate, g, placement)) continue;
        enter(g, candidate, placement);
        return true;
      }
    }
    return false;
  }

  /// Producers' groups, latest first; then recent groups that read the same memory.
  std::vector<int> orderedGroups(const Candidate& candidate) const {
    std::vector<int> result = candidate.dependencies;
    std::ranges::sort(result, std::greater<>());
    std::set<NodeId> wanted;
    for (const Read& read : candidate.reads) wanted.insert(read.node);
    std::size_t tried = 0;
    for (int g = int(m_plan.groups.size()) - 1; g >= 0 && tried < horizontalCandidates; --g) {
      const FusionGroup& group = m_plan.groups[std::size_t(g)];
      if (group.isExtern || group.writes || std::ranges::find(result, g) != result.end()) continue;
      if (std::ranges::none_of(group.reads, [&](NodeId node) { return wanted.contains(node); })) continue;
      result.push_back(g);
      ++tried;
    }
    return result;
  }

  /// Whether another group that the candidate needs itself needs group g: joining would close a cycle.
  bool dependsThroughOthers(const Candidate& candidate, int g) const {
    std::vector<int> stack;
    for (const int d : candidate.dependencies)
      if (d != g) stack.push_back(d);
    std::vector<bool> seen(m_plan.groups.size(), false);
    while (!stack.empty()) {
      const int at = stack.back();
      stack.pop_back();
      if (at == g) return true;
      if (seen[std::size_t(at)]) continue;
      seen[std::size_t(at)] = true;
      for (const int d : m_plan.groups[std::size_t(at)].dependencies) stack.push_back(d);
    }
    return false;
  }

  /// Every value of the group must be read at the very element that the group has at hand.
  bool readsFit(const Candidate& candidate, int g, const Placement& placement) const {
    const FusionGroup& group = m_plan.groups[std::size_t(g)];
    for (const Read& read : candidate.reads) {
      const auto found = m_groupOf.find(read.node);
      if (found == m_groupOf.end() || found->second != g) continue;
      if (!read.map) return false;
      const auto member = std::ranges::find(group.members, read.node, &ElementBuilder::Member::node);
      IndexMap at;
      for (const Affine& index : *read.map) at.push_back(renamed(index, placement.assignment));
      if (at != resultMap(*member->space, movedAssignment(member->assignment, placement.moved))) return false;
    }
    return true;
  }

  void enter(int g, const Candidate& candidate, const Placement& placement) {
    FusionGroup& group = m_plan.groups[std::size_t(g)];
    for (auto& member : group.members) member.assignment = movedAssignment(member.assignment, placement.moved);
    group.variables = placement.variables;
    group.members.push_back({candidate.node, candidate.space, placement.assignment, candidate.part});
    if (group.members.size() > 1) group.cost += candidate.cost;
    for (const int d : candidate.dependencies)
      if (d != g && std::ranges::find(group.dependencies, d) == group.dependencies.end())
        group.dependencies.push_back(d);
    for (const Read& read : candidate.reads)
      if (std::ranges::find(group.reads, read.node) == group.reads.end()) group.reads.push_back(read.node);
    m_groupOf[candidate.node] = g;
  }

  void sortGroups() {
    const std::vector<int> order = producersFirst(m_plan.groups);
    std::vector<int> place(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) place[std::size_t(order[i])] = int(i);
    std::vector<FusionGroup> sorted;
    for (const int g : order) {
      sorted.push_back(std::move(m_plan.groups[std::size_t(g)]));
      for (int& d : sorted.back().dependencies) d = place[std::size_t(d)];
    }
    m_plan.groups = std::move(sorted);
  }

  const ValueTable& m_values;
  const BufferTable& m_buffers;
  const bool m_fuse;
  FusionPlan m_plan;
  std::unordered_map<NodeId, int> m_groupOf;
  int m_lastOrdered = -1;  ///< the newest group of such a node
};

}  // namespace

Result<FusionPlan> planFusion(const ValueTable& values, const BufferTable& buffers, bool fuse) {
  return Fuser(values, buffers, fuse).run();
}

}  // namespace kerf::inline lower
