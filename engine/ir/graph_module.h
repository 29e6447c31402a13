// GraphModule: a Graph and the attributes it reads: parameters, buffers, nested submodules.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/ir/graph.h"
#include "engine/ir/named_table.h"
#include "engine/tensor/tensor.h"

namespace kerf::inline ir {

struct GraphModule;

/// An attribute that holds a tensor. `text` is the right-hand side of the line that declared it (kept for round trips).
struct TensorAttribute {
  Tensor tensor;
  bool isParameter = false;
  std::string text;
};

/// A submodule: a nested graph (higher-order ops, call_module) or an opaque module known by its repr ("Linear(…)").
struct Submodule {
  std::shared_ptr<const GraphModule> graph;  ///< null if opaque
  std::string repr;
};

/// How the signature and the return statement of `forward` are written (torch.fx's CodeGen classes).
struct CodeGen {
  enum class Kind : std::uint8_t {
    Plain,   ///< one parameter per placeholder
    Pytree,  ///< `forward(self, primals, tangents)` and fx_pytree.tree_flatten_spec
    Export,  ///< pytree.tree_leaves and _in_shuffle_graph
    Boxed,   ///< `forward(self, args_list)` and next(args_iter)
  };
  Kind kind = Kind::Plain;
  std::vector<std::string> parameters;  ///< without self, for all kinds but Plain
  std::string flattenArguments;         ///< inside tree_flatten_spec(…) / tree_leaves(…); empty: from `parameters`
  std::vector<std::string> leafNames;   ///< Export: targets of tree_leaves
  bool unflattensOutput = true;         ///< Pytree: the return statement calls pytree.tree_unflatten
  bool expanded = false;                ///< one parameter and one output per line, with descriptions
  std::vector<std::string> outputDescriptions;  ///< expanded: AOTAutograd's descriptor of each output
};

/// Changes with a module's content: its graph, its attributes, and its submodules with all that is nested in them (they
/// are const, so that they change only by being replaced). What a tensor's storage holds is not looked at.
struct ModuleRevision {
  std::uint64_t graph = 0, attributes = 0, submodules = 0;
  bool operator==(const ModuleRevision&) const = default;
};

/// What a capture says of a symbol beside the annotations: constraints of an exported program, records of a log.
struct SymbolRange {
  std::string name;
  std::optional<std::int64_t> lower, upper;  ///< both ends belong to it; none: no bound
  std::string source;                        ///< "L['x'].size()[0]"; mostly empty
  bool operator==(const SymbolRange&) const = default;
};

struct GraphModule {
  std::string className = "GraphModule";
  CodeGen codegen;
  std::string initText;  ///< body lines of `__init__` as read, without super().__init__() (kept for the reader's owner)
  int initLine = 0;      ///< line of the first of them
  Graph graph;
  NamedTable<TensorAttribute> attributes;  ///< by dotted path
  NamedTable<Submodule> submodules;
  std::vector<SymbolRange> symbolRanges;  ///< by name; symbols without one have the range of a new symbol

  const TensorAttribute* attribute(std::string_view path) const { return attributes.find(path); }
  const Submodule* submodule(std::string_view path) const { return submodules.find(path); }
  ModuleRevision revision() const { return {graph.revision(), attributes.revision(), submodules.revision()}; }
  /// Hash over the graph, the attributes' contents and nested modules.
  Hash128 contentHash() const;
};

}  // namespace kerf::inline ir
