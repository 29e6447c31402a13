#include "app/cli/show_parts.h"

#include "app/cli/text_table.h"
#include "app/workbench/protocol/node_query.h"

namespace kerf::cli {

namespace {

Json nodeJson(const NodeDoc& node) {
  const auto bytes = bytesOf(node);
  return {{"name", node.name},
          {"op", node.op},
          {"target", node.target},
          {"dtype", node.dtype},
          {"shape", node.shape},
          {"users", node.users.size()},
          {"bytes", bytes < 0 ? Json() : Json(bytes)},
          {"module", node.modulePath},
          {"line", node.line}};
}

std::string foundTable(const std::vector<const NodeDoc*>& nodes) {
  TextTable table({"name", "op", "value", "users", "bytes", "module"});
  for (const auto* node : nodes) {
    const auto bytes = bytesOf(*node);
    table.add({node->name, node->op, node->value, std::to_string(node->users.size()),
               bytes < 0 ? "-" : std::to_string(bytes), node->modulePath});
  }
  return table.text();
}

}  // namespace

Result<std::string> foundNodes(Context& context, const GraphAddress& address, const std::string& where) {
  KERF_TRY(const auto query, NodeQuery::parse(where));
  if (const auto facts = query.factsAskedFor(); !facts.empty())
    return fail(ErrorCode::BadUsage,
                "the graph alone does not say which nodes are {0}; search for is:{0} in Kerf Studio", *facts.begin());
  KERF_TRY(const auto graph, context.perform(GraphRequest{address}));
  std::vector<const NodeDoc*> found;
  for (const auto& node : graph->nodes)
    if (query.matches(node)) found.push_back(&node);
  if (context.json) {
    Json nodes = Json::array();
    for (const auto* node : found) nodes.push_back(nodeJson(*node));
    const Json object{{"graph", address.text},
                      {"where", where},
                      {"found", found.size()},
                      {"of", graph->nodes.size()},
                      {"nodes", std::move(nodes)}};
    return object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  }
  const auto count = fmt::format("{} of {}\n", found.size(), counted(std::int64_t(graph->nodes.size()), "node"));
  return found.empty() ? count : foundTable(found) + "\n" + count;
}

}  // namespace kerf::cli
