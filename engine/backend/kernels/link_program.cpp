#include "engine/backend/kernels/link_program.h"

#include <algorithm>

#include "engine/backend/kernels/arena_drops.h"
#include "engine/backend/kernels/kernel_info.h"
#include "engine/runtime/library_kernels.h"

namespace kerf::inline backend {
namespace {

/// Elements of the rows of a write that one thread takes at least: a line of the cache.
constexpr std::int64_t besideEachOther = 16;

SlotKind slotKind(BufferKind kind) {
  switch (kind) {
    case BufferKind::Input:
      return SlotKind::Input;
    case BufferKind::Attribute:
    case BufferKind::Number:
      return SlotKind::Constant;
    case BufferKind::Planned:
      return SlotKind::Arena;
    case BufferKind::Owned:
      return SlotKind::Fresh;
    case BufferKind::External:
      break;
  }
  return SlotKind::Result;
}

double numberNamed(const Node& node, std::string_view name, double otherwise) {
  for (const auto& [key, argument] : node.kwargs()) {
    if (key != name) continue;
    if (const auto* whole = argument.as<std::int64_t>()) return double(*whole);
    if (const auto* real = argument.as<double>()) return *real;
    if (const auto* flag = argument.as<bool>()) return *flag;
  }
  return otherwise;
}

class Linker {
 public:
  Linker(const LoweredGraph& graph, const CompiledKernels& kernels, std::shared_ptr<const GraphModule> module,
         const Graph& original)
      : m_graph(graph), m_kernels(kernels), m_values(*graph.values), m_original(original) {
    m_program.module = std::move(module);
    m_program.code = kernels.code;
  }

  Result<LinkedProgram> run() {
    addSlots();
    addViews();
    m_program.arenaBytes = m_graph.plannedBytes;
    std::size_t kernel = 0;
    for (const LoweredStep& step : m_graph.steps) {
      if (step.isExtern)
        KERF_CHECK(addExtern(step));
      else
        addKernel(step, m_kernels.kernels[kernel++]);
    }
    addReleases();
    addLifetimes();
    addArenaDrops(m_program, m_graph.lifetimes);
    return LinkedProgram{{std::move(m_program), m_graph.lifetimes}, std::move(m_sizes)};
  }

 private:
  /// The number at the example's sizes; `place` gets it for other sizes.
  std::int64_t number(SymInt size, ProgramSizes::Place place) {
    if (!size.isSymbolic()) return size.bits();
    m_sizes.add(ShapeEnv::current()->expression(size), std::move(place));
    return exampleOf(size);
  }

  /// The same for a list of them, which `list` finds.
  template <class List>
  Sizes numbers(const SymSizes& sizes, List list) {
    if (!sizes.isSymbolic()) return sizes.numbers();
    Sizes result;
    for (std::size_t d = 0; d < sizes.size(); ++d)
      result.push_back(
          number(sizes[d], [list, d](ProgramLayout& layout) -> std::int64_t& { return list(layout.program)[d]; }));
    return result;
  }

  const Graph& graph() const { return m_program.module->graph; }

  void addSlots() {
    std::vector<bool> written(m_graph.buffers.buffers().size(), false);
    for (const LoweredStep& step : m_graph.steps)
      for (const int b : step.writes) written[std::size_t(b)] = true;
    for (std::size_t b = 0; b < m_graph.buffers.buffers().size(); ++b) {
      const BufferInfo& info = m_graph.buffers.buffers()[b];
      Slot slot{slotKind(info.kind), info.name, true, info.dtype, {}, {}, info.arenaOffset, -1, true, {}};
      slot.sizes = numbers(info.sizes, [b](Program& program) -> Sizes& { return program.slots[b].sizes; });
      slot.strides = numbers(info.strides, [b](Program& program) -> Sizes& { return program.slots[b].strides; });
      slot.used = written[b];
      if (info.node.valid()) {
        slot.isTensor = m_values[info.node].isTensor;
        if (const TensorMeta* meta = graph().node(info.node).meta().value.tensor()) slot.device = meta->device;
      }
      if (info.kind == BufferKind::Attribute)
        slot.constant = m_program.module->attribute(graph().node(info.node).target())->tensor;
      if (info.kind == BufferKind::Number)
        m_sizes.addConstant(ShapeEnv::current()->expression(m_values[info.node].number.value), b);
      m_program.slots.push_back(std::move(slot));
    }
    int input = 0;
    for (const NodeId id : graph().placeholders()) {
      const int slot = m_graph.buffers.bufferOf(id);
      m_program.slots[std::size_t(slot)].input = input++;
      m_program.slots[std::size_t(slot)].kind = SlotKind::Input;
    }
  }

  void addViews() {
    std::size_t count = 0;
    for (const NodeId id : graph().order()) count = std::max<std::size_t>(count, id.index + std::size_t{1});
    m_program.views.resize(count);
    for (const NodeId id : graph().order()) {
      const int own = m_graph.buffers.bufferOf(id);
      if (own >= 0)
        m_program.views[id.index] = {own, true, {}, {}, 0};
      else if (const BufferView* view = m_graph.buffers.view(id))
        m_program.views[id.index] = slotView(*view, id.index);
    }
  }

  SlotView slotView(const BufferView& view, std::size_t i) {
    SlotView result{view.buffer, false, {}, {}, 0};
    result.sizes = numbers(view.sizes, [i](Program& program) -> Sizes& { return program.views[i].sizes; });
    result.strides = numbers(view.strides, [i](Program& program) -> Sizes& { return program.views[i].strides; });
    result.offset =
        number(view.offset, [i](ProgramLayout& layout) -> std::int64_t& { return layout.program.views[i].offset; });
    return result;
  }

  void addKernel(const LoweredStep& lowered, const CompiledKernel& kernel) {
    Step step;
    step.name = lowered.kernel.name;
    step.code = kernel.code;
    step.nodeName = knownNames(graph().node(lowered.nodes.back()), m_original).front();
    const std::size_t at = m_program.steps.size();
    for (std::size_t a = 0; a < lowered.arguments.size(); ++a)
      step.pointers.push_back(
          {lowered.arguments[a].buffer,
           number(lowered.arguments[a].offset * itemSize(lowered.kernel.buffers[a].dtype),
                  [at, a](ProgramLayout& l) -> std::int64_t& { return l.program.steps[at].pointers[a].byteOffset; })});
    for (const int buffer : lowered.writes) {
      Slot& slot = m_program.slots[std::size_t(buffer)];
      if (slot.kind == SlotKind::Input) slot.mutated = slot.stored = true;
    }
    step.bounds = numbers(lowered.kernel.parameters, [at](Program& p) -> Sizes& { return p.steps[at].bounds; });
    for (std::size_t k = 0; k < lowered.indexChecks.size(); ++k) {
      const IndexCheck& check = lowered.indexChecks[k];
      const auto place = [at, k](ProgramLayout& l) -> std::int64_t& { return l.program.steps[at].indexChecks[k].size; };
      step.indexChecks.push_back({check.node, check.opName, number(check.size, place), check.dim, check.mayBeNegative});
    }
    std::int64_t cost = 1;
    for (const Expr& e : lowered.kernel.exprs) cost += exprOpInfo(e.op).cost;
    const auto& variables = lowered.kernel.variables;
    const std::size_t first = firstDividedLoop(lowered.kernel), end = first + dividedLoops(lowered.kernel);
    SymInt outer = 1;
    for (std::size_t v = first; v < end; ++v) outer *= variables[v].size;
    step.outerSize = number(outer, [at](ProgramLayout& l) -> std::int64_t& { return l.program.steps[at].outerSize; });
    SymInt work = cost;
    for (std::size_t v = 0; v < variables.size(); ++v)
      if (v < first || v >= end) work *= variables[v].size;
    if (first > 0) step.fewestPerPiece = besideEachOther;
    step.workPerOuter =
        number(work, [at](ProgramLayout& l) -> std::int64_t& { return l.program.steps[at].workPerOuter; });
    if (const auto shared = sharedReduction(lowered.kernel))
      step.shared = {shared->pieces, shared->chunk, variables[shared->variable].size.bits(),
                     shared->reductions * shared->columns};
    m_program.steps.push_back(std::move(step));
  }

  Result<void> addExtern(const LoweredStep& lowered) {
    const Node& node = graph().node(lowered.node);
    Step step;
    step.name = lowered.kernel.name;
    step.node = lowered.node;
    step.nodeName = knownNames(node, m_original).front();
    step.slot = m_graph.buffers.bufferOf(lowered.node);
    const SlotKind kind = m_program.slots[std::size_t(step.slot)].kind;
    step.kind = kind == SlotKind::Result ? StepKind::Call : libraryStepKind(node.target());
    step.alpha = numberNamed(node, "alpha", 1);
    step.beta = numberNamed(node, "beta", 1);
    if (step.kind == StepKind::Convolution) {
      step.followerElements = lowered.followerElements;
      step.followerTakesAll = lowered.followerTakesAll;
    }
    if (node.target().starts_with("torch.ops.higher_order."))
      step.kind = StepKind::HigherOrder;
    else if (isSubgraph(node))
      step.kind = StepKind::Subgraph;
    else if (node.op() != Opcode::CallFunction)
      step.kind = StepKind::Interpret;
    if (step.kind == StepKind::Interpret) step.single = singleNodeModule(*m_program.module, node);
    markMutated(node);
    m_program.steps.push_back(std::move(step));
    return {};
  }

  bool isSubgraph(const Node& node) const {
    const Submodule* found = node.op() == Opcode::CallModule ? m_program.module->submodule(node.target()) : nullptr;
    return found != nullptr && found->graph;
  }

  /// Inputs that a step may write into.
  void markMutated(const Node& node) {
    for (const NodeId id : mutatedOperands(node)) {
      const int slot = m_program.views[id.index].slot;
      if (slot >= 0) m_program.slots[std::size_t(slot)].mutated = true;
    }
  }

  /// Of an op that is not in the table any may be.
  static std::vector<NodeId> mutatedOperands(const Node& node) {
    const OpInfo* op = findOp(node);
    if (op == nullptr) return node.inputs();
    std::vector<NodeId> result;
    const auto& schema = op->schema.arguments;
    const auto add = [&](const SchemaArgument& argument, const Argument& value) {
      if (argument.alias.find('!') == std::string::npos) return;
      forEachNode(value, [&](NodeId id) { result.push_back(id); });
    };
    for (std::size_t i = 0; i < std::min(schema.size(), node.args().size()); ++i) add(schema[i], node.args()[i]);
    for (const auto& [key, value] : node.kwargs())
      for (const SchemaArgument& argument : schema)
        if (argument.name == key) add(argument, value);
    return result;
  }

  /// Extern results are dropped after their last use; outputs stay.
  void addReleases() {
    std::vector<int> last(m_program.slots.size(), -1);
    for (std::size_t s = 0; s < m_graph.steps.size(); ++s)
      for (const auto* list : {&m_graph.steps[s].reads, &m_graph.steps[s].writes})
        for (const int b : *list) last[std::size_t(b)] = int(s);
    if (graph().outputNode().valid())
      for (const NodeId id : graph().node(graph().outputNode()).inputs())
        if (m_program.views[id.index].slot >= 0) last[std::size_t(m_program.views[id.index].slot)] = -1;
    for (std::size_t slot = 0; slot < last.size(); ++slot) {
      const SlotKind kind = m_program.slots[slot].kind;
      if (last[slot] < 0 || (kind != SlotKind::Result && kind != SlotKind::Fresh)) continue;
      m_program.steps[std::size_t(last[slot])].releases.push_back(int(slot));
    }
  }

  void addLifetimes() {
    for (std::size_t i = 0; i < m_graph.lifetimes.size(); ++i)
      number(m_graph.buffers.buffers()[std::size_t(m_graph.lifetimes[i].buffer)].bytes,
             [i](ProgramLayout& layout) -> std::int64_t& { return layout.lifetimes[i].bytes; });
  }

  const LoweredGraph& m_graph;
  const CompiledKernels& m_kernels;
  const ValueTable& m_values;
  const Graph& m_original;
  Program m_program;
  ProgramSizes m_sizes;
};

}  // namespace

Result<LinkedProgram> linkProgram(const LoweredGraph& graph, const CompiledKernels& kernels,
                                  std::shared_ptr<const GraphModule> module, const Graph& original) {
  return Linker(graph, kernels, std::move(module), original).run();
}

}  // namespace kerf::inline backend
