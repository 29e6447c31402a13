#include "engine/ir/transformer.h"

namespace kerf::inline ir {

Result<GraphModule> Transformer::transform() {
  m_mapped.clear();
  m_result = m_module;
  m_result.graph = Graph();
  for (const NodeId id : m_module.graph.order()) {
    const Node& node = m_module.graph.node(id);
    auto mapped = visit(node);
    if (!mapped) {
      if (mapped.error().node.empty()) mapped.error().atNode(node.name());
      return fail(std::move(mapped).error());
    }
    m_mapped[id] = std::move(*mapped);
  }
  return std::move(m_result);
}

Result<Argument> Transformer::visit(const Node& node) {
  const auto map = [this](NodeId id) { return m_mapped.at(id); };
  ArgumentList args;
  for (const Argument& argument : node.args()) args.push_back(mapNodes(argument, map));
  KeywordArguments kwargs;
  for (const auto& [key, value] : node.kwargs()) kwargs.emplace_back(key, mapNodes(value, map));
  switch (node.op()) {
    case Opcode::Placeholder:
      return placeholder(node, std::move(args));
    case Opcode::CallFunction:
      return callFunction(node, std::move(args), std::move(kwargs));
    case Opcode::CallMethod:
      return callMethod(node, std::move(args), std::move(kwargs));
    case Opcode::CallModule:
      return callModule(node, std::move(args), std::move(kwargs));
    case Opcode::GetAttr:
      return getAttr(node);
    case Opcode::Output:
      return output(node, args.empty() ? Argument() : std::move(args.front()));
  }
  return fail(ErrorCode::Internal, "unknown opcode");
}

NodeId Transformer::copy(const Node& node, ArgumentList args, KeywordArguments kwargs) {
  const NodeId id = graph().createNamed(node.op(), node.target(), std::move(args), std::move(kwargs), node.name());
  graph().setMeta(id, node.meta());
  return id;
}

Result<Argument> Transformer::placeholder(const Node& node, ArgumentList args) {
  return Argument(copy(node, std::move(args), {}));
}

Result<Argument> Transformer::callFunction(const Node& node, ArgumentList args, KeywordArguments kwargs) {
  return Argument(copy(node, std::move(args), std::move(kwargs)));
}

Result<Argument> Transformer::callMethod(const Node& node, ArgumentList args, KeywordArguments kwargs) {
  return Argument(copy(node, std::move(args), std::move(kwargs)));
}

Result<Argument> Transformer::callModule(const Node& node, ArgumentList args, KeywordArguments kwargs) {
  return Argument(copy(node, std::move(args), std::move(kwargs)));
}

Result<Argument> Transformer::getAttr(const Node& node) { return Argument(copy(node, {}, {})); }

Result<Argument> Transformer::output(const Node& node, Argument value) {
  return Argument(copy(node, {std::move(value)}, {}));
}

}  // namespace kerf::inline ir
