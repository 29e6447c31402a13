// CandidateEditor: the edits that all reductions are made of; keeps inputs and placeholders together.
#pragma once

#include <functional>
#include <unordered_map>

#include "minifier/core/minify.h"

namespace kerf::inline minifier::inline core {

class CandidateEditor {
 public:
  /// `candidate` must outlive the editor.
  explicit CandidateEditor(const Candidate& candidate);

  Graph& graph() { return m_module.graph; }
  GraphModule& module() { return m_module; }
  const Value* input(NodeId placeholder) const;
  /// Its annotation follows; sizes that it has in symbols stay so where they are the value's.
  void setInput(NodeId placeholder, Value value);
  /// Makes `node` a placeholder of the same name that holds `value`. A node that makes several values cannot be one;
  /// its getitem users become placeholders instead. False if that is impossible.
  bool cut(NodeId node, const Value& value);
  /// A new placeholder behind the others, of a name like `name`.
  NodeId addInput(std::string_view name, const Value& value);
  void setOutputs(const std::vector<NodeId>& nodes);
  /// Drops nodes, placeholders, attributes and submodules that nothing needs. Impure nodes without users stay only if
  /// `keepImpure` is true of them.
  Candidate finish(const std::function<bool(const Node&)>& keepImpure);
  Candidate finish();
  /// As finish(), with metas computed anew for changed shapes (updateShapes); none if the graph would not be valid.
  std::optional<Candidate> finishWithShapes();
  /// As finishWithShapes(); where operands have another rank than before, what names dimensions follows (fitDims).
  std::optional<Candidate> finishFitted();

 private:
  bool cutItems(NodeId node, const ValueList& items);
  void replaceByPlaceholder(NodeId node, const Value& value);
  const Candidate& m_start;
  GraphModule m_module;
  std::unordered_map<NodeId, Value> m_inputs;
};

}  // namespace kerf::inline minifier::inline core
