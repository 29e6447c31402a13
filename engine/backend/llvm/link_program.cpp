#include "engine/backend/llvm/link_program.h"

#include <algorithm>

#include "engine/runtime/library_kernels.h"

namespace kerf::inline backend {
namespace {

SlotKind slotKind(BufferKind kind) {
  switch (kind) {
    case BufferKind::Input:
      return SlotKind::Input;
    case BufferKind::Attribute:
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
  Linker(const LoweredGraph& graph, const CompiledKernels& kernels, std::shared_ptr<const GraphModule> module)
      : m_graph(graph), m_kernels(kernels), m_values(*graph.values) {
    m_program.module = std::move(module);
    m_program.code = kernels.code;
  }

  Result<std::shared_ptr<const Program>> run() {
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
    return std::make_shared<const Program>(std::move(m_program));
  }

 private:
  const Graph& graph() const { return m_program.module->graph; }

  void addSlots() {
    std::vector<bool> written(m_graph.buffers.buffers().size(), false);
    for (const LoweredStep& step : m_graph.steps)
      for (const int b : step.writes) written[std::size_t(b)] = true;
    for (std::size_t b = 0; b < m_graph.buffers.buffers().size(); ++b) {
      const BufferInfo& info = m_graph.buffers.buffers()[b];
      Slot slot{slotKind(info.kind), info.name,        true, info.dtype, info.sizes,
                info.strides,        info.arenaOffset, -1,   true,       {}};
      slot.used = written[b];
      if (info.node.valid()) slot.isTensor = m_values[info.node].isTensor;
      if (info.kind == BufferKind::Attribute)
        slot.constant = m_program.module->attribute(graph().node(info.node).target())->tensor;
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
        m_program.views[id.index] = {view->buffer, false, view->sizes, view->strides, view->offset};
    }
  }

  void addKernel(const LoweredStep& lowered, const CompiledKernel& kernel) {
    Step step;
    step.function = kernel.function;
    step.nodeName = graph().node(lowered.nodes.back()).name();
    for (std::size_t a = 0; a < lowered.arguments.size(); ++a)
      step.pointers.push_back(
          {lowered.arguments[a].buffer, lowered.arguments[a].offset * itemSize(lowered.kernel.buffers[a].dtype)});
    std::int64_t cost = 1;
    for (const Expr& e : lowered.kernel.exprs) cost += exprOpInfo(e.op).cost;
    const auto& variables = lowered.kernel.variables;
    const bool split = !variables.empty() && !variables[0].reduced;
    step.outerSize = split ? variables[0].size : 1;
    step.workPerOuter = cost;
    for (std::size_t v = split ? 1 : 0; v < variables.size(); ++v) step.workPerOuter *= variables[v].size;
    m_program.steps.push_back(std::move(step));
  }

  Result<void> addExtern(const LoweredStep& lowered) {
    const Node& node = graph().node(lowered.node);
    Step step;
    step.node = lowered.node;
    step.nodeName = node.name();
    step.slot = m_graph.buffers.bufferOf(lowered.node);
    const SlotKind kind = m_program.slots[std::size_t(step.slot)].kind;
    step.kind = kind == SlotKind::Result ? StepKind::Call : libraryStepKind(node.target());
    step.alpha = numberNamed(node, "alpha", 1);
    step.beta = numberNamed(node, "beta", 1);
    const bool plain = node.op() == Opcode::CallFunction && !node.target().starts_with("torch.ops.higher_order.");
    if (!plain) {
      step.kind = StepKind::Interpret;
      step.single = singleNodeModule(node);
    }
    m_program.steps.push_back(std::move(step));
    return {};
  }

  /// A graph of this node alone, with its inputs as placeholders, for the interpreter.
  std::shared_ptr<const GraphModule> singleNodeModule(const Node& node) const {
    auto single = std::make_shared<GraphModule>();
    single->attributes = m_program.module->attributes;
    single->submodules = m_program.module->submodules;
    std::unordered_map<NodeId, NodeId> map;
    for (const NodeId input : node.inputs()) map[input] = single->graph.placeholder(graph().node(input).name());
    const auto rename = [&](NodeId id) { return Argument(map.at(id)); };
    ArgumentList args;
    for (const Argument& argument : node.args()) args.push_back(mapNodes(argument, rename));
    KeywordArguments kwargs;
    for (const auto& [key, argument] : node.kwargs()) kwargs.emplace_back(key, mapNodes(argument, rename));
    const NodeId copy = single->graph.createNode(node.op(), node.target(), args, kwargs, node.name());
    single->graph.output(copy);
    return single;
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

  const LoweredGraph& m_graph;
  const CompiledKernels& m_kernels;
  const ValueTable& m_values;
  Program m_program;
};

}  // namespace

Result<std::shared_ptr<const Program>> linkProgram(const LoweredGraph& graph, const CompiledKernels& kernels,
                                                   std::shared_ptr<const GraphModule> module) {
  return Linker(graph, kernels, std::move(module)).run();
}

}  // namespace kerf::inline backend
