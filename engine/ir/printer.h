// The three text forms of an FX graph, character for character as PyTorch 2.11 prints them.
#pragma once

#include <string>

#include "engine/ir/graph_module.h"

namespace kerf::inline ir {

/// str(graph): "graph():\n    %x : [num_users=1] = placeholder[target=x]…".
std::string printGraphText(const Graph& graph);
/// graph.print_tabular(): opcode, name, target, args, kwargs (tabulate's "simple" format).
std::string printTabular(const Graph& graph);

struct PythonCodeOptions {
  bool annotateValues = false;  ///< print_readable's `name: "f32[2, 3][3, 1]cpu"`
  bool includeStride = false;
  bool includeDevice = false;
  bool includeStackTraces = false;  ///< "# File: …" lines and "# No stacktrace found for following nodes"
  int indent = 4;                   ///< of the `def forward` line
};

/// `    def forward(self, …):` and its body, with the `;  a = b = None` frees.
std::string printPythonCode(const GraphModule& module, const PythonCodeOptions& options = {});
/// gm.print_readable(include_stride=True, include_device=True): "class GraphModule(torch.nn.Module):\n    def
/// forward…".
std::string printReadable(const GraphModule& module, const PythonCodeOptions& options);
/// One argument as str(graph) writes it (nodes with '%') or as Python code writes it.
enum class ArgumentStyle { GraphText, Python };
std::string printArgument(const Graph& graph, const Argument& argument, ArgumentStyle style);
/// print_readable's annotation without its quotes ("f32[2, 3][3, 1]cpu", "Sym(s0)"); empty if nothing is known.
std::string printAnnotation(const NodeMeta& meta, bool includeStride, bool includeDevice);
/// One node as a line for people: "relu: f32[2, 4] = torch.ops.aten.relu.default(x)"; empty for no node.
std::string printNode(const Graph& graph, NodeId id);

}  // namespace kerf::inline ir
