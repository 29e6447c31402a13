// Graph documents made by hand: what groups and layouts need of them.
#pragma once

#include <string>
#include <vector>

#include "app/workbench/protocol/graphs.h"

namespace kerf::testing {

/// Without an op it is an input. `inputs` are places in the list; `line` 0: unknown.
struct MadeCall {
  std::string name, op;
  std::vector<int> inputs;
  std::string module;
  int line = 0;
};

inline workbench::GraphDoc makeDocument(const std::vector<MadeCall>& calls) {
  workbench::GraphDoc doc;
  for (const auto& call : calls) {
    workbench::NodeDoc node;
    node.name = call.name;
    node.op = call.op;
    node.target = call.op.empty() ? call.name : "torch.ops.aten." + call.op + ".default";
    node.kind = call.op.empty() ? workbench::NodeKind::Input : workbench::NodeKind::Pointwise;
    node.inputs = call.inputs;
    node.modulePath = call.module;
    node.line = call.line;
    node.file = call.line > 0 ? "model.py" : "";
    for (const int input : call.inputs) doc.nodes[std::size_t(input)].users.push_back(int(doc.nodes.size()));
    doc.nodes.push_back(std::move(node));
  }
  doc.afterReading();
  return doc;
}

}  // namespace kerf::testing
