// Graph documents made by hand: what groups and layouts need of them.
#pragma once

#include <string>
#include <vector>

#include "app/workbench/protocol/graphs.h"

namespace kerf::testing {

/// Without an op it is an input; "output" returns. `inputs` are places in the list; `line` 0: unknown.
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
    node.kind = call.op.empty()       ? workbench::NodeKind::Input
                : call.op == "output" ? workbench::NodeKind::Output
                                      : workbench::NodeKind::Pointwise;
    node.value = "f32[2, 2]";
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

/// `layers` blocks of relu(x W_i) + x, six calls each; only the weights know their modules.
inline std::vector<MadeCall> residualModel(int layers) {
  std::vector<MadeCall> calls{{"x", "", {}, "", 0}};
  for (int i = 0; i < layers; ++i) {
    const int x = int(calls.size()) - 1;
    const auto name = "layers." + std::to_string(i);
    calls.push_back({"w" + std::to_string(i), "", {}, name + ".fc", 0});
    const int w = x + 1;
    calls.push_back({"t" + std::to_string(i), "permute", {w}, "", 10});
    calls.push_back({"m" + std::to_string(i), "mm", {x, w + 1}, "", 10});
    calls.push_back({"v" + std::to_string(i), "view", {w + 2}, "", 10});
    calls.push_back({"r" + std::to_string(i), "relu", {w + 3}, "", 40});
    calls.push_back({"a" + std::to_string(i), "add", {w + 4, x}, "", 42});
    calls.push_back({"c" + std::to_string(i), "clone", {w + 5}, "", 42});
  }
  return calls;
}

/// The same and its gradients: the output returns the last value and one gradient for each layer.
inline std::vector<MadeCall> jointModel(int layers) {
  auto calls = residualModel(layers);
  const int result = int(calls.size()) - 1;
  calls.push_back({"tangents_1", "", {}, "", 0});
  MadeCall output{"output", "output", {result}, "", 0};
  int gradient = result + 1;
  for (int i = layers - 1; i >= 0; --i) {
    const int base = 1 + i * 7;
    const auto name = std::to_string(i);
    calls.push_back({"g" + name, "threshold_backward", {gradient, base + 4}, "", 40});
    calls.push_back({"h" + name, "mm", {int(calls.size()) - 1, base + 1}, "", 10});
    calls.push_back({"k" + name, "view", {int(calls.size()) - 1}, "", 10});
    output.inputs.push_back(int(calls.size()) - 1);
    calls.push_back({"l" + name, "add", {int(calls.size()) - 1, gradient}, "", 42});
    gradient = int(calls.size()) - 1;
  }
  calls.push_back(output);
  return calls;
}

}  // namespace kerf::testing
