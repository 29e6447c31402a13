#include "engine/autograd/written_size.h"

#include <unordered_map>

#include "engine/autograd/nested_graphs.h"
#include "engine/ir/submodules.h"

namespace kerf::inline autograd {
namespace {

constexpr std::size_t mostWrittenNodes = std::size_t{1} << 18;

class WrittenSize {
 public:
  /// Nodes of the nested graphs that a graph calls, no further than beyond the limit.
  std::size_t nestedIn(const GraphModule& module) {
    std::size_t total = 0;
    for (const NodeId id : module.graph.order())
      if ((total += nestedIn(module, module.graph.node(id))) > mostWrittenNodes) break;
    return total;
  }

 private:
  std::size_t nestedIn(const GraphModule& module, const Node& node) {
    if (node.op() == Opcode::CallModule) return sizeOf(module, node.target());
    if (node.op() != Opcode::CallFunction || !node.target().starts_with("torch.ops.higher_order.")) return 0;
    if (callsGraphs(node.target()) && !tracesBranches(node.target())) return 0;
    std::size_t total = 0;
    for (const NodeId input : node.inputs())
      if (const Node& operand = module.graph.node(input); operand.op() == Opcode::GetAttr)
        total += sizeOf(module, operand.target());
    return total;
  }

  std::size_t sizeOf(const GraphModule& module, std::string_view path) {
    const Submodule* found = module.submodule(path);
    if (found == nullptr || !found->graph) return 0;
    const auto known = m_sizes.find(found->graph.get());
    if (known != m_sizes.end()) return known->second;
    const std::size_t size = found->graph->graph.order().size() + nestedIn(*found->graph);
    return m_sizes.emplace(found->graph.get(), size).first->second;
  }

  std::unordered_map<const GraphModule*, std::size_t> m_sizes;
};

}  // namespace

Result<void> checkWrittenSize(const GraphModule& module) {
  if (WrittenSize().nestedIn(module) <= mostWrittenNodes) return {};
  return fail(ErrorCode::TooLarge,
              "nested graphs are called so often that they would be more than {} nodes where they are written out",
              mostWrittenNodes);
}

}  // namespace kerf::inline autograd
