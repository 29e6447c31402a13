// CandidateEditor: implementation over Graph; node ids of untouched nodes stay what they were.
#include "minifier/core/candidate_editor.h"

#include <algorithm>
#include <unordered_set>

#include "engine/ops/core/purity.h"
#include "minifier/core/candidate.h"
#include "minifier/core/copied_values.h"
#include "minifier/core/fitted_dims.h"
#include "minifier/core/shape_update.h"
#include "minifier/core/subset_builder.h"

namespace kerf::inline minifier::inline core {

namespace {

/// New placeholders go behind the others.
NodeId firstNonPlaceholder(const Graph& graph) {
  for (NodeId id : graph.order()) {
    if (graph.node(id).op() != Opcode::Placeholder) return id;
  }
  return {};
}

NodeId addPlaceholder(Graph& graph, std::string_view name) {
  const InsertionScope scope(graph, InsertionScope::Where::Before, firstNonPlaceholder(graph));
  return graph.createNamed(Opcode::Placeholder, name, {}, {}, name);
}

void removeUnusedPlaceholders(Graph& graph) {
  for (NodeId id : graph.placeholders()) {
    if (graph.node(id).users().empty()) (void)graph.eraseNode(id);
  }
}

}  // namespace

CandidateEditor::CandidateEditor(const Candidate& candidate) : m_start(candidate), m_module(candidate.module) {
  const std::vector<NodeId> placeholders = m_module.graph.placeholders();
  for (std::size_t i = 0; i < placeholders.size() && i < candidate.inputs.size(); ++i)
    m_inputs.emplace(placeholders[i], candidate.inputs[i]);
}

const Value* CandidateEditor::input(NodeId placeholder) const {
  const auto found = m_inputs.find(placeholder);
  return found == m_inputs.end() ? nullptr : &found->second;
}

void CandidateEditor::setInput(NodeId placeholder, Value value) {
  graph().setValueMeta(placeholder, annotatedLike(graph().node(placeholder).meta().value, value));
  m_inputs.insert_or_assign(placeholder, std::move(value));
}

bool CandidateEditor::cut(NodeId node, const Value& value) {
  if (!graph().contains(node)) return true;
  if (value.isList()) return cutItems(node, value.list());
  if (value.isNone()) return false;
  const Result<Value> compact = compacted(value);
  if (!compact) return false;
  replaceByPlaceholder(node, *compact);
  return true;
}

bool CandidateEditor::cutItems(NodeId node, const ValueList& items) {
  const std::vector<NodeId> users = graph().node(node).users();
  for (NodeId user : users) {
    if (!graph().contains(user)) continue;
    const Node& getter = graph().node(user);
    const auto* index = getter.args().size() == 2 ? getter.args()[1].as<std::int64_t>() : nullptr;
    const bool inRange = index && *index >= 0 && *index < std::int64_t(items.size());
    if (!getter.isCall("operator.getitem"_op) || !inRange) return false;
    if (getter.users().empty()) continue;
    if (!cut(user, items[std::size_t(*index)])) return false;
  }
  return true;
}

void CandidateEditor::replaceByPlaceholder(NodeId node, const Value& value) {
  const std::string name = graph().node(node).name();
  NodeMeta meta = graph().node(node).meta();
  meta.value = annotatedLike(meta.value, value);
  const NodeId holder = addPlaceholder(graph(), name + "_holder");  // keeps the users while the name changes hands
  graph().replaceAllUsesWith(node, holder);
  (void)graph().eraseNode(node);
  const NodeId placeholder = addPlaceholder(graph(), name);
  graph().replaceAllUsesWith(holder, placeholder);
  (void)graph().eraseNode(holder);
  graph().setMeta(placeholder, std::move(meta));
  m_inputs.emplace(placeholder, value);
}

NodeId CandidateEditor::addInput(std::string_view name, const Value& value) {
  const Result<Value> compact = compacted(value);
  const NodeId placeholder = addPlaceholder(graph(), name);
  graph().setValueMeta(placeholder, metaOf(value));
  m_inputs.insert_or_assign(placeholder, compact ? *compact : value);
  return placeholder;
}

void CandidateEditor::setOutputs(const std::vector<NodeId>& nodes) {
  graph().setArgs(graph().outputNode(), {Argument::tuple(ArgumentList(nodes.begin(), nodes.end()))});
}

Candidate CandidateEditor::finish() {
  return finish([](const Node& node) { return purityOf(node) == Purity::Impure; });
}

Candidate CandidateEditor::finish(const std::function<bool(const Node&)>& keepImpure) {
  graph().eliminateDeadCode(keepImpure);
  removeUnusedPlaceholders(graph());
  removeUnusedAttributes(m_module);
  Candidate result{std::move(m_module), {}};
  for (NodeId id : result.module.graph.placeholders()) result.inputs.push_back(m_inputs[id]);
  return result;
}

std::optional<Candidate> CandidateEditor::finishWithShapes() {
  Candidate result = finish();
  if (!updateShapes(result.module, m_start.module)) return std::nullopt;
  return result;
}

std::optional<Candidate> CandidateEditor::finishFitted() {
  constexpr std::size_t mostNodes = 64;  // of larger graphs there are many edits, and most are refused
  Candidate result = finish();
  std::optional<Candidate> fitted;
  if (result.module.graph.size() <= mostNodes) fitted = result;
  if (updateShapes(result.module, m_start.module)) return result;
  if (!fitted) return std::nullopt;
  GraphModule shaped = fitted->module;
  if (!fitDims(shaped)) return std::nullopt;
  for (const NodeId id : shaped.graph.order()) {
    fitted->module.graph.setArgs(id, shaped.graph.node(id).args());
    fitted->module.graph.setKwargs(id, shaped.graph.node(id).kwargs());
  }
  if (!updateShapes(fitted->module, m_start.module)) return std::nullopt;
  return fitted;
}

}  // namespace kerf::inline minifier::inline core
