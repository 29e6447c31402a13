// From classified values to a schedule: buffers, fusion groups, loop kernels, memory.
#include <algorithm>
#include <limits>
#include <set>

#include "engine/lower/copy_stores.h"
#include "engine/lower/lowered_graph.h"
#include "engine/ops/core/instruments.h"
#include "engine/support/streamed_from.h"

namespace kerf::inline lower {

std::string opBaseName(std::string_view target) {
  if (target.starts_with("torch.ops.")) target.remove_prefix(10);
  const auto dot = target.find('.');
  if (dot != std::string_view::npos) target.remove_prefix(dot + 1);
  return std::string(target.substr(0, target.find('.')));
}

namespace {

class Scheduler {
 public:
  Scheduler(std::shared_ptr<const ValueTable> values, BufferTable buffers, bool roundsEachOp, ImageLayout layout)
      : m_values(*values), m_roundsEachOp(roundsEachOp), m_layout(layout) {
    m_graph.values = std::move(values);
    m_graph.buffers = std::move(buffers);
  }

  Result<LoweredGraph> run(FusionPlan& plan) {
    findReaders(plan);
    for (std::size_t g = 0; g < plan.groups.size(); ++g) {
      const FusionGroup& group = plan.groups[g];
      if (group.isExtern) {
        addExtern(group);
        continue;
      }
      KERF_CHECK(addKernel(group, int(g)));
    }
    if (m_layout == ImageLayout::ChannelsLast) joinFollowers(m_graph);
    nameSteps();
    settleSizes();
    planMemory(m_graph);
    return std::move(m_graph);
  }

 private:
  /// Values that somebody outside of their own group loads.
  void findReaders(const FusionPlan& plan) {
    std::unordered_map<NodeId, int> groupOf;
    for (std::size_t g = 0; g < plan.groups.size(); ++g)
      for (const auto& member : plan.groups[g].members) groupOf[member.node] = int(g);
    for (std::size_t g = 0; g < plan.groups.size(); ++g)
      for (const NodeId read : plan.groups[g].reads) {
        const auto found = groupOf.find(read);
        if (found != groupOf.end() && found->second != int(g)) m_readOutside.insert(read);
      }
  }

  void addExtern(const FusionGroup& group) {
    LoweredStep step;
    step.isExtern = true;
    step.node = group.members[0].node;
    step.nodes = {step.node};
    step.segment = group.segment;
    for (const NodeId read : group.reads)
      if (const int buffer = m_graph.buffers.memoryOf(read); buffer >= 0) step.reads.push_back(buffer);
    step.writes = {m_graph.buffers.bufferOf(step.node)};
    m_graph.steps.push_back(std::move(step));
  }

  Result<void> addKernel(const FusionGroup& group, int) {
    LoweredStep step;
    step.segment = group.segment;
    step.kernel.variables = group.variables;
    ElementBuilder builder(m_values, m_graph.buffers, step.kernel);
    builder.roundsEachOp = m_roundsEachOp;
    for (const auto& member : group.members) {
      if (member.part == MemberPart::Writes) {
        KERF_CHECK(addWrites(builder, member, step));
        continue;
      }
      auto value = builder.member(member);
      if (!value) return fail(std::move(value.error().atNode(nodeName(member.node))));
      if (isStored(member.node))
        addStore(builder, member, *m_graph.buffers.view(member.node), builder.stored(member.node, *value), step);
      for (const CopyStore& copy : group.copies)
        if (copy.value == member.node)
          addStore(builder, member, copy.into, builder.copied(copy.copy, copy.value, *value), step);
    }
    if (step.kernel.stores.empty()) return {};
    step.nodes = builder.computedNodes();
    for (const CopyStore& copy : group.copies) step.nodes.push_back(copy.copy);
    std::ranges::sort(step.nodes);
    step.indexChecks = builder.indexChecks();
    step.origins = builder.origins();
    for (const auto& argument : builder.arguments()) step.arguments.push_back({argument.buffer, argument.offset});
    for (const auto& argument : builder.arguments())
      if (std::ranges::find(step.writes, argument.buffer) == step.writes.end()) step.reads.push_back(argument.buffer);
    simplifyLoops(step.kernel, m_streamedFrom, m_layout == ImageLayout::ChannelsLast);
    m_graph.steps.push_back(std::move(step));
    return {};
  }

  Result<void> addWrites(ElementBuilder& builder, const ElementBuilder::Member& member, LoweredStep& step) {
    auto store = builder.writes(member);
    if (!store) return fail(std::move(store.error().atNode(nodeName(member.node))));
    if (!isStored(member.node)) return {};
    step.kernel.stores.push_back(*store);
    step.writes.push_back(m_graph.buffers.bufferOf(member.node));
    return {};
  }

  bool isStored(NodeId id) const {
    const BufferInfo& info = m_graph.buffers.buffers()[std::size_t(m_graph.buffers.bufferOf(id))];
    return info.kind == BufferKind::Owned || m_readOutside.contains(id);
  }

  void addStore(ElementBuilder& builder, const ElementBuilder::Member& member, const BufferView& view, int value,
                LoweredStep& step) {
    const IndexMap map = resultMap(*member.space, member.assignment);
    Affine index = flatten(map, view.strides, view.offset);
    const SymInt offset = std::exchange(index.constant, SymInt(0));
    LoopStore store{builder.bufferArgument(view.buffer, offset), index, value, false};
    for (std::size_t v = 0; v < index.coefficients.size(); ++v)
      store.inner = store.inner || (!isZero(index.coefficients[v]) && step.kernel.variables[v].reduced);
    // A stored value with stride 0 along a reduced loop would still be an element of that loop.
    for (const Affine& at : map)
      for (std::size_t v = 0; v < at.coefficients.size(); ++v)
        store.inner = store.inner || (!isZero(at.coefficients[v]) && step.kernel.variables[v].reduced);
    step.kernel.stores.push_back(std::move(store));
    step.writes.push_back(view.buffer);
  }

  /// What guards have settled is put in everywhere; what is left of symbols in kernels are their parameters.
  void settleSizes() {
    ShapeEnv* env = ShapeEnv::current();
    if (env == nullptr) return;
    for (LoweredStep& step : m_graph.steps) {
      collectParameters(step.kernel);
      for (auto& argument : step.arguments) argument.offset = env->resolved(argument.offset);
    }
    m_graph.buffers.settle(*env);
  }

  const std::string& nodeName(NodeId id) const { return m_values.graph().node(id).name(); }

  /// Inductor's style: cpp_fused_add_mul_0, extern_addmm_1.
  void nameSteps() {
    constexpr std::size_t longest = 80;
    for (std::size_t s = 0; s < m_graph.steps.size(); ++s) {
      LoweredStep& step = m_graph.steps[s];
      std::set<std::string> ops;
      for (const NodeId id : step.nodes)
        if (step.isExtern || m_values[id].kind != ValueKind::View) ops.insert(opName(id));
      std::string name = step.isExtern ? "extern" : "cpp_fused";
      for (const std::string& op : ops)
        if (name.size() + op.size() < longest) name += "_" + op;
      step.kernel.name = fmt::format("{}_{}", name, s);
    }
  }

  /// Of the op that users know: an instrument goes by the name of the call it belongs to.
  std::string opName(NodeId id) const {
    if (const NodeId shown = shownNode(m_values.graph(), id); shown.valid()) id = shown;
    const ValueInfo& info = m_values[id];
    const std::string& target = m_values.graph().node(id).target();
    if (target == "operator.getitem" && info.bound.op) return opBaseName(info.bound.op->schema.qualifiedName());
    return opBaseName(target);
  }

  const ValueTable& m_values;
  const bool m_roundsEachOp;
  const ImageLayout m_layout;
  /// Of a processor's caches; a device's threads do not go in the order of loops.
  const std::int64_t m_streamedFrom =
      m_layout == ImageLayout::ChannelsLast ? streamedFrom() : std::numeric_limits<std::int64_t>::max();
  LoweredGraph m_graph;
  std::set<NodeId> m_readOutside;
};

}  // namespace

Result<LoweredGraph> scheduleGraph(std::shared_ptr<const ValueTable> values, bool fuse, bool roundsEachOp,
                                   ImageLayout layout, InputCopies copies) {
  KERF_TRY(BufferTable buffers, BufferTable::build(*values, fuse, layout));
  KERF_TRY(FusionPlan plan, planFusion(*values, buffers, fuse));
  if (fuse && copies == InputCopies::InKernels) KERF_CHECK(storeCopies(*values, buffers, plan));
  return Scheduler(std::move(values), std::move(buffers), roundsEachOp, layout).run(plan);
}

}  // namespace kerf::inline lower
