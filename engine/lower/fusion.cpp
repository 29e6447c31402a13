#include "engine/lower/fusion.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "engine/lower/group_order.h"
#include "engine/lower/loop_split.h"
#include "engine/lower/lowering_fit.h"
#include "engine/ops/core/op_registry.h"

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
    if (!isZero(index.coefficients[v]))
      result = result + assignment[v] * index.coefficients[v];
  return result;
}

IndexMap movedAssignment(const IndexMap& assignment, const IndexMap& moved) {
  if (moved.empty()) return assignment;
  IndexMap result;
  for (const Affine& index : assignment) result.push_back(renamed(index, moved));
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
    const ElementBuilder::Member member{id, candidate.space, variablesUpTo(scratch.variables.size()), part};
    KERF_TRY(candidate.reads, readsOf(member, scratch));
    for (const Read& read : candidate.reads) addDependency(candidate.dependencies, read.node);
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

  void startGroup(const Candidate& candidate) {
    FusionGroup group{false, false, candidate.segment, candidate.cost, candidate.space->variables, {}, {}, {}};
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
      if (dependsThroughOthers(candidate, g)) continue;
      for (const Placement& placement : placements(group, *candidate.space)) {
        if (!readsFit(renamedReads(candidate.reads, placement.assignment), g, placement)) continue;
        enter(g, candidate, placement);
        return true;
      }
      if (joinSplit(candidate, g)) return true;
    }
    return false;
  }

  static std::vector<Read> renamedReads(std::vector<Read> reads, const IndexMap& assignment) {
    for (Read& read : reads)
      if (read.map)
        for (Affine& index : *read.map) index = renamed(index, assignment);
    return reads;
  }

  /// An element-wise value of what the group computes, seen through a view that cuts its loops otherwise.
  bool joinSplit(const Candidate& candidate, int g) {
    const FusionGroup& group = m_plan.groups[std::size_t(g)];
    const auto isScan = [&](const auto& member) { return m_values[member.node].kind == ValueKind::Scan; };
    if (m_values[candidate.node].kind != ValueKind::Pointwise) return false;
    if (!anyReduced(group.variables)) return false;
    if (std::ranges::find(candidate.dependencies, g) == candidate.dependencies.end()) return false;
    if (std::ranges::any_of(group.members, isScan)) return false;
    const auto common = commonLoops(group.variables, candidate.space->sizes());
    if (!common || common->row < shortestRow) return false;
    std::int64_t outer = 1;
    for (const SymInt size : outerSizes(common->variables)) outer *= size.bits();
    if (outer < fewestOuter) return false;
    LoopKernel scratch;
    scratch.variables = common->variables;
    const auto reads = readsOf({candidate.node, candidate.space, common->ofValue, candidate.part}, scratch);
    const Placement placement{common->ofValue, common->variables, common->ofKernel};
    if (!reads || !readsFit(*reads, g, placement)) return false;
    enter(g, candidate, placement);
    return true;
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
