#include "engine/lower/fusion.h"

#include <algorithm>
#include <queue>
#include <set>
#include <unordered_map>

#include "engine/lower/group_levels.h"
#include "engine/lower/group_order.h"
#include "engine/lower/loop_split.h"
#include "engine/lower/lowering_fit.h"
#include "engine/ops/core/op_registry.h"
#include "engine/support/append_missing.h"
#include "engine/symbolic/shape_env.h"

namespace kerf::inline lower {
namespace {

constexpr std::size_t maxMembers = 24;
constexpr int maxCost = 600;
/// Shorter rows of a nest that is cut would end vectors too often; with fewer rows it would leave threads without work.
constexpr std::int64_t shortestRow = 256, fewestOuter = 16;
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
  IndexMap assignment;
  std::vector<LoopVariable> variables;
  IndexMap moved;  ///< every old group variable over the new ones; empty: unchanged
};

IndexMap variablesUpTo(std::size_t count) {
  IndexMap result;
  for (std::size_t v = 0; v < count; ++v) result.push_back(Affine::variable(v));
  return result;
}

SymSizes sizesOf(const std::vector<LoopVariable>& variables) {
  SymSizes sizes;
  for (const auto& v : variables) sizes.push_back(v.size);
  return sizes;
}

IndexMap outerVariables(const std::vector<LoopVariable>& variables) {
  IndexMap result;
  for (std::size_t v = 0; v < variables.size(); ++v)
    if (!variables[v].reduced) result.push_back(Affine::variable(v));
  return result;
}

SymSizes outerSizes(const std::vector<LoopVariable>& variables) {
  SymSizes sizes;
  for (const LoopVariable& v : variables)
    if (!v.reduced) sizes.push_back(v.size);
  return sizes;
}

bool anyReduced(const std::vector<LoopVariable>& variables) {
  return std::ranges::any_of(variables, [](const LoopVariable& v) { return v.reduced; });
}

std::vector<Placement> placements(const FusionGroup& group, const LoopSpace& space) {
  std::vector<Placement> result;
  const bool groupReduces = anyReduced(group.variables);
  const IndexMap same = variablesUpTo(space.variables.size());
  if (sameSizes(sizesOf(group.variables), space.sizes())) {
    if (!space.reduces() || group.variables == space.variables)
      result.push_back({same, group.variables, {}});
    else if (!groupReduces)
      result.push_back({same, space.variables, {}});
  }
  if (groupReduces && !space.reduces()) {
    if (sameSizes(outerSizes(group.variables), space.sizes()))
      result.push_back({outerVariables(group.variables), group.variables, {}});
  }
  if (!groupReduces && space.reduces()) {
    if (sameSizes(outerSizes(space.variables), sizesOf(group.variables)))
      result.push_back({same, space.variables, outerVariables(space.variables)});
  }
  return result;
}

Affine renamed(const Affine& index, const IndexMap& assignment) {
  Affine result = Affine::number(index.constant);
  for (std::size_t v = 0; v < index.coefficients.size(); ++v)
    if (!isZero(index.coefficients[v])) result = result + assignment[v] * index.coefficients[v];
  return result;
}

IndexMap movedAssignment(const IndexMap& assignment, const IndexMap& moved) {
  if (moved.empty()) return assignment;
  IndexMap result;
  for (const Affine& index : assignment) result.push_back(renamed(index, moved));
  return result;
}

std::vector<NodeId> nodesOf(const std::vector<Read>& reads) {
  std::vector<NodeId> nodes;
  for (const Read& read : reads) nodes.push_back(read.node);
  return nodes;
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
    appendMissing(writes.dependencies, groupsOf({id}));
    startGroup(writes, true);
    return {};
  }

  void addExtern(NodeId id) {
    FusionGroup group{true, false, m_values[id].segment, 0, {}, {{id, nullptr, {}}}, {}, {}};
    for (const NodeId input : m_values.graph().node(id).inputs()) group.reads.push_back(m_values.root(input));
    appendMissing(group.dependencies, groupsOf(group.reads));
    const int own = int(m_plan.groups.size());
    if (isOrdered(m_values.graph().node(id))) {
      if (m_lastOrdered >= 0 && std::ranges::find(group.dependencies, m_lastOrdered) == group.dependencies.end())
        group.dependencies.push_back(m_lastOrdered);
      m_lastOrdered = own;
    }
    m_groupOf[id] = own;
    m_plan.groups.push_back(std::move(group));
    m_levels.update(m_plan.groups, own);
  }

  /// Random ops draw from one generator, each what is next; nested graphs may.
  static bool isOrdered(const Node& node) {
    const OpInfo* op = findOp(node);
    return op ? has(op->traits, OpTrait::Random) : node.target().starts_with("torch.ops.higher_order.");
  }

  std::vector<int> groupsOf(const std::vector<NodeId>& roots) const {
    std::vector<int> groups;
    for (const NodeId root : roots)
      if (const auto found = m_groupOf.find(root); found != m_groupOf.end()) groups.push_back(found->second);
    return groups;
  }

  Result<Candidate> candidateFor(NodeId id, MemberPart part) {
    KERF_TRY(LoopSpace space, loopSpace(m_values, id, part));
    m_plan.spaces.push_back(std::make_unique<LoopSpace>(std::move(space)));
    Candidate candidate{id, part, m_plan.spaces.back().get(), {}, {}, m_values[id].segment, 0};
    LoopKernel scratch;
    scratch.variables = candidate.space->variables;
    const ElementBuilder::Member member{id, candidate.space, variablesUpTo(scratch.variables.size()), part};
    KERF_TRY(candidate.reads, readsOf(member, scratch));
    appendMissing(candidate.dependencies, groupsOf(nodesOf(candidate.reads)));
    for (const Expr& e : scratch.exprs) candidate.cost += exprOpInfo(e.op).cost;
    return candidate;
  }

  /// What the member reads in a kernel over the loops of `scratch`, which gets its expressions.
  Result<std::vector<Read>> readsOf(const ElementBuilder::Member& member, LoopKernel& scratch) const {
    std::vector<Read> reads;
    ElementBuilder builder(m_values, m_buffers, scratch);
    builder.onRead = [&](NodeId node, const std::optional<IndexMap>& map) { reads.push_back({node, map}); };
    if (member.part == MemberPart::Writes)
      KERF_CHECK(builder.writes(member));
    else
      KERF_CHECK(builder.member(member));
    return reads;
  }

  void startGroup(const Candidate& candidate, bool writes = false) {
    FusionGroup group{false, writes, candidate.segment, candidate.cost, candidate.space->variables, {}, {}, {}};
    m_plan.groups.push_back(std::move(group));
    enter(int(m_plan.groups.size()) - 1, candidate,
          {variablesUpTo(candidate.space->variables.size()), candidate.space->variables, {}});
  }

  /// A scan along rows goes an element at a time, and so does what shares its loops: what costs as much as an
  /// exponential is faster by vectors, in a kernel of its own.
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
      const auto closesCycle = [&] { return m_levels.dependThroughOthers(m_plan.groups, candidate.dependencies, g); };
      if (ShapeEnv::current() != nullptr && closesCycle()) continue;  // else comparing sizes would add guards
      std::optional<Placement> placement = placementIn(candidate, g);
      if (!placement) placement = splitPlacement(candidate, g);
      if (!placement || closesCycle()) continue;
      enter(g, candidate, *placement);
      return true;
    }
    return false;
  }

  std::optional<Placement> placementIn(const Candidate& candidate, int g) const {
    for (Placement& placement : placements(m_plan.groups[std::size_t(g)], *candidate.space))
      if (readsFit(renamedReads(candidate.reads, placement.assignment), g, placement)) return std::move(placement);
    return std::nullopt;
  }

  static std::vector<Read> renamedReads(std::vector<Read> reads, const IndexMap& assignment) {
    for (Read& read : reads)
      if (read.map)
        for (Affine& index : *read.map) index = renamed(index, assignment);
    return reads;
  }

  /// An element-wise value of what the group computes, seen through a view that cuts its loops otherwise.
  std::optional<Placement> splitPlacement(const Candidate& candidate, int g) const {
    const FusionGroup& group = m_plan.groups[std::size_t(g)];
    const auto isScan = [&](const auto& member) { return m_values[member.node].kind == ValueKind::Scan; };
    if (m_values[candidate.node].kind != ValueKind::Pointwise) return std::nullopt;
    if (!anyReduced(group.variables)) return std::nullopt;
    if (std::ranges::find(candidate.dependencies, g) == candidate.dependencies.end()) return std::nullopt;
    if (std::ranges::any_of(group.members, isScan)) return std::nullopt;
    const auto common = commonLoops(group.variables, candidate.space->sizes());
    if (!common || common->row < shortestRow) return std::nullopt;
    std::int64_t outer = 1;
    for (const SymInt size : outerSizes(common->variables)) outer *= size.bits();
    if (outer < fewestOuter) return std::nullopt;
    LoopKernel scratch;
    scratch.variables = common->variables;
    const auto reads = readsOf({candidate.node, candidate.space, common->ofValue, candidate.part}, scratch);
    Placement placement{common->ofValue, common->variables, common->ofKernel};
    if (!reads || !readsFit(*reads, g, placement)) return std::nullopt;
    return placement;
  }

  /// Producers' groups, latest first; then recent groups that read the same memory.
  std::vector<int> orderedGroups(const Candidate& candidate) const {
    std::vector<int> result = candidate.dependencies;
    std::ranges::sort(result, std::greater<>());
    const std::set<int> producers(result.begin(), result.end());
    // The latest reader of each value that is read, then the one before it.
    using Place = std::pair<int, std::pair<const std::set<int>*, std::set<int>::const_reverse_iterator>>;
    const auto isEarlier = [](const Place& a, const Place& b) { return a.first < b.first; };
    std::priority_queue<Place, std::vector<Place>, decltype(isEarlier)> latest(isEarlier);
    for (const Read& read : candidate.reads)
      if (const auto readers = m_readersOf.find(read.node); readers != m_readersOf.end())
        latest.push({*readers->second.rbegin(), {&readers->second, readers->second.rbegin()}});
    for (int last = -1; !latest.empty() && result.size() < producers.size() + horizontalCandidates;) {
      auto [g, place] = latest.top();
      latest.pop();
      if (++place.second != place.first->rend()) latest.push({*place.second, place});
      if (g != last && !producers.contains(g)) result.push_back(g);
      last = g;
    }
    return result;
  }

  /// Every value of the group must be read, over the placement's loops, at the very element that the group has at hand.
  bool readsFit(const std::vector<Read>& reads, int g, const Placement& placement) const {
    const FusionGroup& group = m_plan.groups[std::size_t(g)];
    for (const Read& read : reads) {
      const auto found = m_groupOf.find(read.node);
      if (found == m_groupOf.end() || found->second != g) continue;
      if (!read.map) return false;
      const auto member = std::ranges::find(group.members, read.node, &ElementBuilder::Member::node);
      if (*read.map != resultMap(*member->space, movedAssignment(member->assignment, placement.moved))) return false;
    }
    return true;
  }

  void enter(int g, const Candidate& candidate, const Placement& placement) {
    FusionGroup& group = m_plan.groups[std::size_t(g)];
    for (auto& member : group.members) member.assignment = movedAssignment(member.assignment, placement.moved);
    group.variables = placement.variables;
    group.members.push_back({candidate.node, candidate.space, placement.assignment, candidate.part});
    if (group.members.size() > 1) group.cost += candidate.cost;
    std::vector<int> dependencies = candidate.dependencies;
    std::erase(dependencies, g);
    appendMissing(group.dependencies, dependencies);
    const std::vector<NodeId> reads = nodesOf(candidate.reads);
    appendMissing(group.reads, reads);
    if (!group.writes)
      for (const NodeId read : reads) m_readersOf[read].insert(g);
    m_groupOf[candidate.node] = g;
    m_levels.update(m_plan.groups, g);
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
  std::unordered_map<NodeId, std::set<int>> m_readersOf;  ///< groups that others may join
  GroupLevels m_levels;
  int m_lastOrdered = -1;  ///< the newest group of such a node
};

}  // namespace

Result<FusionPlan> planFusion(const ValueTable& values, const BufferTable& buffers, bool fuse) {
  return Fuser(values, buffers, fuse).run();
}

}  // namespace kerf::inline lower
