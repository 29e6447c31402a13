#include "engine/lower/write_out.h"

#include <algorithm>

#include "engine/lower/node_writer.h"
#include "engine/lower/value_table.h"
#include "engine/lower/write_loops.h"
#include "engine/lower/write_results.h"
#include "engine/ops/python/python_level.h"

namespace kerf::inline lower {
namespace {

bool isGetitem(const Node& node) { return node.isCall("operator.getitem"_op) && !node.args().empty(); }

/// An item of a list that was written out, or an index into a tensor.
bool indexesKnownValue(const Graph& graph, const Node& node) {
  if (!isGetitem(node)) return false;
  const NodeId* source = node.args()[0].as<NodeId>();
  return source == nullptr || graph.node(*source).meta().value.tensor() != nullptr;
}

/// An operator of Python that gives a tensor.
bool isTensorOperator(const Node& node) {
  return node.op() == Opcode::CallFunction && node.meta().value.tensor() && !tensorOperator(node.target()).empty();
}

bool isWrittenOut(const GraphModule& module, const Node& node) {
  if (node.op() == Opcode::CallMethod) return true;
  if (node.op() == Opcode::CallModule) {
    const Submodule* found = module.submodule(node.target());
    return found != nullptr && !found->graph;
  }
  if (node.op() != Opcode::CallFunction) return false;
  if (isGetitem(node)) return indexesKnownValue(module.graph, node);
  if (isTensorOperator(node)) return true;
  const OpInfo* op = findOp(node);
  return op ? isComposite(*op) && !op->lowering : runsAsPython(node.target());
}

std::string targetOf(const GraphModule& module, const Node& node) {
  if (node.op() == Opcode::CallMethod) return "method." + node.target();
  if (isTensorOperator(node)) return tensorOperator(node.target());
  if (node.op() == Opcode::CallFunction) return node.target();
  return fmt::format("module:{}={}", node.target(), module.submodule(node.target())->repr);
}

/// The parameters of a module's call follow its arguments.
CallValues asCalled(const Node& node, CallValues call) {
  if (node.op() == Opcode::CallModule)
    for (auto& [key, value] : std::exchange(call.kwargs, {})) call.args.push_back(std::move(value));
  return call;
}

Result<void> writePrograms(GraphModule& module) {
  NodeWriter writer(module, isComposite);
  for (const NodeId id : std::vector<NodeId>(module.graph.order().begin(), module.graph.order().end())) {
    if (!isWrittenOut(module, module.graph.node(id))) continue;
    askFor(module.graph.node(id));
    const auto program = [&](const OpTracer& tracer, const CallValues& given) -> Result<Value> {
      const std::string target = targetOf(module, module.graph.node(id));
      const CallValues call = asCalled(module.graph.node(id), given);
      return tracer.call(target, call.args, call.kwargs);
    };
    KERF_CHECK(writer.replace(id, program));
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<const GraphModule>> writeOut(std::shared_ptr<const GraphModule> module) {
  const bool any = std::ranges::any_of(module->graph.order(), [&](NodeId id) {
    const Node& node = module->graph.node(id);
    return isWrittenOut(*module, node) || mayBecomeLoops(node) || newResultOf(node) != nullptr;
  });
  if (!any) return module;
  auto written = std::make_shared<GraphModule>(*module);
  KERF_CHECK(writePrograms(*written));
  KERF_CHECK(writeLoops(*written));
  KERF_CHECK(writeResults(*written));
  return written;
}

}  // namespace kerf::inline lower
