// SubsetBuilder: builds the graph of a set anew, so that its cost is the set's and not the base's.
#include "minifier/core/subset_builder.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "engine/capture/inputs/generated_inputs.h"
#include "engine/ir/graph_copy.h"
#include "engine/ir/submodules.h"
#include "engine/ir/value_meta.h"
#include "engine/ops/core/purity.h"
#include "minifier/core/candidate.h"
#include "minifier/core/tensor_like.h"

namespace kerf::inline minifier::inline core {

namespace {

void keepSymbols(const std::vector<Dim>& before, std::vector<Dim>& dims) {
  if (before.size() != dims.size()) return;
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (before[i].hint == dims[i].hint) dims[i].text = before[i].text;
}

/// For what the interpreter cannot compute: a value that fits the annotation.
std::optional<Value> madeUp(const Node& node) {
  if (node.meta().value.tensor() == nullptr) return std::nullopt;
  GraphModule like;
  like.graph.setValueMeta(like.graph.placeholder(node.name()), node.meta().value);
  like.graph.output(Argument());
  auto values = generateInputs(like, {});
  return values && values->size() == 1 ? std::optional(std::move(values->front())) : std::nullopt;
}

}  // namespace

std::optional<Argument> literalOf(const Value& value, const ValueMeta& meta) {
  if (value.isNone()) return Argument();
  if (const auto* number = value.as<std::int64_t>())
    return meta.sym() && hasSymbols(meta.sym()->expr) ? std::nullopt : std::optional(Argument(*number));
  if (const auto* number = value.as<double>()) return Argument(*number);
  if (const auto* flag = value.as<bool>()) return Argument(*flag);
  if (const auto* text = value.as<std::string>()) return Argument(*text);
  if (const auto* dtype = value.as<DType>()) return Argument(*dtype);
  if (const auto* device = value.as<Device>()) return Argument(*device);
  if (const auto* layout = value.as<Layout>()) return Argument(*layout);
  if (const auto* format = value.as<MemoryFormat>()) return Argument(*format);
  return std::nullopt;
}

ValueMeta annotatedLike(const ValueMeta& before, const Value& value) {
  ValueMeta meta = metaOf(value);
  if (auto* tensor = std::get_if<TensorMeta>(&meta.value); tensor != nullptr && before.tensor() != nullptr) {
    keepSymbols(before.tensor()->sizes, tensor->sizes);
    keepSymbols(before.tensor()->strides, tensor->strides);
  }
  auto* sym = std::get_if<SymMeta>(&meta.value);
  if (sym != nullptr && before.sym() != nullptr && before.sym()->expr.hint == sym->expr.hint)
    sym->expr = before.sym()->expr;
  return meta;
}

void removeUnusedAttributes(GraphModule& module) {
  deleteAllUnusedAttributes(module);
  deleteAllUnusedSubmodules(module);
}

/// One candidate under construction.
struct SubsetBuilder::Assembly {
  std::vector<char> isKept;                                ///< by NodeId::index of the base
  std::vector<NodeId> nodes;                               ///< those, in order
  std::map<std::pair<NodeId, NodeId>, ValueVersion> seen;  ///< (user, operand) → what it gets
  std::map<NodeId, std::vector<ValueVersion>> versions;    ///< of operands from outside
  std::vector<NodeId> attributes;                          ///< get_attr operands
  std::map<ValueVersion, Argument> inputs;
  std::map<NodeId, NodeId> copies;  ///< of calls and attributes
  Candidate result;

  bool keeps(NodeId id) const { return isKept[id.index] != 0; }
  Graph& graph() { return result.module.graph; }
  Argument addInput(const Node& like, std::string_view name, const ValueMeta& meta, const Value& value);
  bool isNeeded(const Graph& base, NodeId id) const;
};

SubsetBuilder::SubsetBuilder(const Candidate& base, RecordedValues& values)
    : m_base(base), m_values(values), m_units(callUnits(base.module.graph)), m_shell(base.module) {
  m_shell.graph = Graph();
  const Graph& graph = base.module.graph;
  for (const NodeId id : graph.order())
    if (m_positions.size() <= id.index) m_positions.resize(id.index + std::size_t{1});
  for (std::size_t i = 0; i < graph.size(); ++i) m_positions[graph.order()[i].index] = i;
  m_inputs.resize(m_positions.size());
  const auto placeholders = graph.placeholders();
  for (std::size_t i = 0; i < std::min(placeholders.size(), base.inputs.size()); ++i)
    m_inputs[placeholders[i].index] = &base.inputs[i];
}

UnitSet SubsetBuilder::allUnits() const {
  UnitSet all(m_units.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

std::optional<Candidate> SubsetBuilder::build(const UnitSet& kept) {
  Assembly assembly;
  assembly.result.module = m_shell;
  keep(assembly, kept);
  addUses(assembly);
  if (!addInputs(assembly)) return std::nullopt;
  addCalls(assembly);
  std::vector<Argument> outputs = outputsOf(assembly, deadCalls(kept, true));
  if (outputs.empty()) outputs = outputsOf(assembly, deadCalls(kept, false));
  const Graph& graph = m_base.module.graph;
  const bool effects = std::ranges::any_of(assembly.nodes, [&](NodeId id) { return isEffect(graph, id); });
  if (outputs.empty() && !effects) return std::nullopt;
  assembly.graph().output(Argument::tuple(ArgumentList(outputs.begin(), outputs.end())));
  assembly.graph().eliminateDeadCode([](const Node& node) { return purityOf(node) != Purity::Pure; });
  removeUnusedAttributes(assembly.result.module);
  return std::move(assembly.result);
}

void SubsetBuilder::keep(Assembly& assembly, const UnitSet& kept) const {
  assembly.isKept.resize(m_positions.size());
  for (const std::size_t unit : kept) {
    assembly.nodes.push_back(m_units[unit].call);
    assembly.nodes.insert(assembly.nodes.end(), m_units[unit].items.begin(), m_units[unit].items.end());
  }
  std::ranges::sort(assembly.nodes, {}, [&](NodeId id) { return m_positions[id.index]; });
  for (const NodeId id : assembly.nodes) assembly.isKept[id.index] = 1;
}

/// Whether a kept call that was seen before writes into that input's memory: back along kept views one comes to it.
/// What looked at the same memory in the base may be an input of its own here.
bool SubsetBuilder::writesInto(const Assembly& assembly, NodeId writer, const ValueVersion& input) {
  for (NodeId written : writtenBy(m_base.module.graph.node(writer))) {
    NodeId user = writer;
    while (written.valid() && assembly.keeps(written)) {
      user = written;
      written = m_values.viewedBy(written);
    }
    const auto seen = assembly.seen.find({user, written});
    if (written.valid() && seen != assembly.seen.end() && seen->second == input) return true;
  }
  return false;
}

/// An input changes with the writes of kept calls that reach it; what the others wrote is in the value that it begins
/// with.
void SubsetBuilder::addUses(Assembly& assembly) {
  for (const NodeId user : assembly.nodes) {
    for (const NodeId operand : m_base.module.graph.node(user).inputs()) {
      if (assembly.keeps(operand)) continue;
      if (m_base.module.graph.node(operand).op() == Opcode::GetAttr) {
        if (std::ranges::find(assembly.attributes, operand) == assembly.attributes.end())
          assembly.attributes.push_back(operand);
        continue;
      }
      const ValueVersion wanted = m_values.seenBy(operand, user);
      const auto& writers = m_values.writersOf(operand);
      auto& versions = assembly.versions[operand];
      const auto leadsThere = [&](const ValueVersion& version) {
        for (std::size_t i = version.writes; i < wanted.writes; ++i)
          if (!assembly.keeps(writers[i]) || !writesInto(assembly, writers[i], version)) return false;
        return version.writes <= wanted.writes;
      };
      auto found = std::ranges::find_if(versions, leadsThere);
      if (found == versions.end()) found = versions.insert(versions.end(), wanted);
      assembly.seen[{user, operand}] = *found;
    }
  }
}

bool SubsetBuilder::addInputs(Assembly& assembly) {
  const Graph& base = m_base.module.graph;
  std::vector<ValueVersion> all, recorded;
  for (const auto& [node, versions] : assembly.versions) all.insert(all.end(), versions.begin(), versions.end());
  const auto isInput = [&](const ValueVersion& version) {
    return base.node(version.node).op() == Opcode::Placeholder && version.writes == 0;
  };
  std::ranges::sort(all, {}, [&](const ValueVersion& version) {
    return std::tuple(!isInput(version), m_positions[version.node.index], version.writes);
  });
  std::ranges::copy_if(all, std::back_inserter(recorded), std::not_fn(isInput));
  if (!recorded.empty()) m_values.require(recorded);
  for (const ValueVersion& version : all) {
    const Node& node = base.node(version.node);
    const Value* value = isInput(version) ? m_inputs[version.node.index] : m_values.compact(version);
    std::optional<Value> substitute;
    if (value == nullptr && (substitute = madeUp(node))) value = &*substitute;
    if (value == nullptr || (value->isTensor() && !value->tensor().defined())) return false;
    const auto literal = isInput(version) ? std::nullopt : literalOf(*value, node.meta().value);
    assembly.inputs.emplace(version,
                            literal ? *literal : assembly.addInput(node, node.name(), node.meta().value, *value));
  }
  return true;
}

/// A placeholder like `like`; of a list one for each item.
Argument SubsetBuilder::Assembly::addInput(const Node& like, std::string_view name, const ValueMeta& meta,
                                           const Value& value) {
  if (value.isList()) {
    ArgumentList items;
    const auto* metas = meta.list();
    for (std::size_t i = 0; i < value.list().size(); ++i) {
      const Value& item = value.list()[i];
      const ValueMeta itemMeta = metas && i < metas->size() ? (*metas)[i] : ValueMeta{};
      const auto literal = literalOf(item, itemMeta);
      items.push_back(literal ? *literal : addInput(like, fmt::format("{}_{}", name, i), itemMeta, item));
    }
    return Argument::list(std::move(items));
  }
  const NodeId id = graph().createNamed(Opcode::Placeholder, name, {}, {}, name);
  NodeMeta described = like.meta();
  described.value = annotatedLike(meta, value);
  graph().setMeta(id, std::move(described));
  result.inputs.push_back(value);
  return id;
}

void SubsetBuilder::addCalls(Assembly& assembly) const {
  const Graph& base = m_base.module.graph;
  Graph& graph = assembly.graph();
  const auto copy = [&](NodeId id) {
    const Node& node = base.node(id);
    const auto mapped = [&](NodeId operand) -> Argument {
      const auto kept = assembly.copies.find(operand);
      return kept != assembly.copies.end() ? Argument(kept->second)
                                           : assembly.inputs.at(assembly.seen.at({id, operand}));
    };
    assembly.copies.emplace(id, copyNode(graph, node, mapped, CopyName::Same));
  };
  for (const NodeId id : assembly.attributes) copy(id);
  for (const NodeId id : assembly.nodes) copy(id);
}

/// Whether something that is not kept used the value.
bool SubsetBuilder::Assembly::isNeeded(const Graph& base, NodeId id) const {
  return std::ranges::any_of(base.node(id).users(), [&](NodeId user) { return !keeps(user); });
}

/// Calls of whose values nobody uses any, in the base either, and which were not made for what they do; where `isSure`,
/// only those that certainly give a value.
std::set<NodeId> SubsetBuilder::deadCalls(const UnitSet& kept, bool isSure) const {
  const Graph& base = m_base.module.graph;
  const auto isUnused = [&](NodeId id) { return base.node(id).users().empty(); };
  std::set<NodeId> dead;
  for (const std::size_t i : kept) {
    const CallUnit& unit = m_units[i];
    const Node& call = base.node(unit.call);
    if (call.users().size() > unit.items.size() || !std::ranges::all_of(unit.items, isUnused)) continue;
    const bool isValue = purityOf(call) == Purity::Pure || call.meta().value.tensor() != nullptr;
    if (purityOf(call) != Purity::Impure && (isValue || !isSure)) dead.insert(unit.call);
  }
  return dead;
}

/// What others need, and the dead calls: the set is asked about with them in it, so they must be there.
std::vector<Argument> SubsetBuilder::outputsOf(Assembly& assembly, const std::set<NodeId>& dead) const {
  const Graph& base = m_base.module.graph;
  Graph& graph = assembly.graph();
  std::vector<Argument> outputs;
  for (const NodeId id : assembly.nodes) {
    if (!dead.contains(id) && !assembly.isNeeded(base, id)) continue;
    const NodeId copy = assembly.copies.at(id);
    const auto* items = base.node(id).meta().value.list();
    if (items == nullptr) outputs.emplace_back(copy);
    for (std::size_t i = 0; items != nullptr && i < items->size(); ++i) {  // a list is returned item by item
      const NodeId item = graph.callFunction("operator.getitem", {copy, std::int64_t(i)});
      graph.setValueMeta(item, (*items)[i]);
      outputs.emplace_back(item);
    }
  }
  return outputs;
}

}  // namespace kerf::inline minifier::inline core
