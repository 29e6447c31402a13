#include "engine/capture/pt2/node_reader.h"

#include <utility>

#include "engine/capture/pt2/argument.h"
#include "engine/capture/pt2/metadata.h"
#include "engine/capture/pt2/schema.h"
#include "engine/ops/core/op_registry.h"

namespace kerf::inline capture::pt2 {
namespace {

constexpr std::string_view higherOrderPrefix = "torch.ops.higher_order.";
constexpr std::int64_t progressStep = 4096;  // nodes between two reports

/// "_operator.mul" → "operator.mul"; everything else as it is.
std::string targetOf(std::string name) {
  constexpr std::string_view prefix = "_operator.";
  return name.starts_with(prefix) ? name.substr(1) : name;
}

/// Whether an argument without a kind (before minor 8.9 or so) was positional: it has no default in the op's schema.
bool positionalBySchema(const OpInfo* op, std::string_view name) {
  if (op == nullptr) return true;
  for (const SchemaArgument& argument : op->schema.arguments)
    if (argument.name == name) return !argument.defaultValue && !argument.keywordOnly;
  return true;
}

}  // namespace

struct NodeReader::Call {
  std::string target, name;
  const OpInfo* op = nullptr;
  ArgumentList args;
  KeywordArguments kwargs;
  std::vector<Output> outputs;
  Metadata metadata;
  std::optional<bool> singleReturn;
  std::optional<std::size_t> inputsAt;  ///< set while they are unread because the target comes after them
  bool higherOrder() const { return target.starts_with(higherOrderPrefix); }
};

std::optional<NodeId> NodeReader::find(const std::string& name) const {
  const auto found = m_byName.find(name);
  return found == m_byName.end() ? std::nullopt : std::optional(found->second);
}

Result<NodeId> NodeReader::named(const std::string& name) const {
  if (const auto node = find(name)) return *node;
  return m_json.failHere(fmt::format("no earlier node defines '{}'", name));
}

Result<void> NodeReader::define(const std::string& name, NodeId node) {
  if (m_byName.emplace(name, node).second) return {};
  return m_json.failHere(fmt::format("'{}' is defined twice", name));
}

Result<void> NodeReader::count() {
  if (++m_reading.nodes > m_reading.limits.nodes)
    return fail(ErrorCode::TooLarge, "the graph has more than {} nodes", m_reading.limits.nodes);
  if (m_reading.nodes % progressStep != 0 || !m_reading.progress) return {};
  const double share = double(m_json.position()) / double(std::max<std::size_t>(m_reading.textBytes, 1));
  if (!m_reading.progress(0.1 + 0.8 * std::min(share, 1.0))) return fail(ErrorCode::Cancelled, "import cancelled");
  return {};
}

// Inputs

/// Name of the next input; `constant` is set if it is a plain value.
Result<std::string> NodeReader::readInputName(const std::string& constantName, bool& constant) {
  std::string name = constantName;
  KERF_CHECK(m_json.forEachMember([&](const std::string& key) -> Result<void> {
    constant = key != "as_tensor" && key != "as_custom_obj" && !key.starts_with("as_sym_");
    if (constant) {
      KERF_CHECK(m_json.skip());
      return {};
    }
    return m_json.forEachMember([&](const std::string& field) -> Result<void> {
      if (field != "name" && field != "as_name") {
        KERF_CHECK(m_json.skip());
        return {};
      }
      KERF_TRY(name, m_json.string());
      return {};
    });
  }));
  return name;
}

Result<void> NodeReader::readInputs(const std::vector<std::string>& constantNames) {
  std::size_t index = 0;
  return m_json.forEachElement([&]() -> Result<void> {
    KERF_CHECK(count());
    const std::string known = index < constantNames.size() ? constantNames[index] : std::string();
    bool constant = false;
    (void)m_json.peek();
    const std::size_t start = m_json.position();
    KERF_TRY(const std::string name, readInputName(known.empty() ? fmt::format("arg{}", index) : known, constant));
    ++index;
    if (name.empty()) return m_json.failHere("an input without a name");
    std::string_view value;
    if (constant) value = m_json.textFrom(start);
    const NodeId node = graph().createNamed(Opcode::Placeholder, name, {}, {}, name);
    if (graph().node(node).name() != name) graph().setTarget(node, graph().node(node).name());  // becomes Python code
    if (constant) m_reading.program.constantInputs[programName(node)] = value;
    return define(name, node);
  });
}

// Calls

Result<void> NodeReader::readNode() {
  Call call;
  KERF_CHECK(count());
  KERF_CHECK(m_json.forEachMember([&](const std::string& key) { return readCallField(key, call); }));
  if (call.target.empty()) return m_json.failHere("a node without a target");
  if (call.inputsAt) {
    const std::size_t end = m_json.position();
    m_json.seek(*call.inputsAt);
    KERF_CHECK(m_json.forEachElement([&] { return readCallInput(call); }));
    m_json.seek(end);
  }
  return addCall(call);
}

Result<void> NodeReader::readCallField(const std::string& key, Call& call) {
  if (key == "target") {
    KERF_TRY(std::string target, m_json.string());
    call.target = targetOf(std::move(target));
    if (!isDottedName(call.target)) return m_json.failHere(fmt::format("'{}' names no operator", call.target));
    call.op = findOp(call.target);
  } else if (key == "inputs") {
    if (!call.args.empty() || !call.kwargs.empty() || call.inputsAt)
      return m_json.failHere("a node has its inputs twice");
    if (!call.target.empty()) return m_json.forEachElement([&] { return readCallInput(call); });
    (void)m_json.peek();  // which arguments are positional depends on the target: read them later
    call.inputsAt = m_json.position();
    KERF_CHECK(m_json.skip());
  } else if (key == "outputs") {
    if (!call.outputs.empty()) return m_json.failHere("a node has its outputs twice");
    return m_json.forEachElement([&]() -> Result<void> {
      KERF_TRY(Output output, readOutput());
      call.outputs.push_back(std::move(output));
      return {};
    });
  } else if (key == "metadata") {
    return readMetadata(call.metadata);
  } else if (key == "name" && !m_json.null()) {
    KERF_TRY(call.name, m_json.string());
  } else if (key == "is_hop_single_tensor_return" && !m_json.null()) {
    KERF_TRY(call.singleReturn, m_json.boolean());
  } else if (key != "name" && key != "is_hop_single_tensor_return") {
    KERF_CHECK(m_json.skip());
  }
  return {};
}

Result<void> NodeReader::readCallInput(Call& call) {
  std::string name;
  Argument value;
  std::optional<std::int64_t> kind;
  bool hasValue = false;
  KERF_CHECK(m_json.forEachMember([&](const std::string& key) -> Result<void> {
    if (key == "name") {
      KERF_TRY(name, m_json.string());
    } else if (key == "arg") {
      if (std::exchange(hasValue, true)) return m_json.failHere("an argument with two values");
      KERF_TRY(value, readArgument());
    } else if (key == "kind" && !m_json.null()) {
      KERF_TRY(kind, m_json.integer());
    } else if (key != "kind") {
      KERF_CHECK(m_json.skip());
    }
    return {};
  }));
  // torch.export.load: the arguments of higher-order ops are keywords as soon as they have a name
  const bool positional = call.higherOrder() ? name.empty()
                          : kind             ? *kind != keywordKind
                                             : positionalBySchema(call.op, name);
  if (!positional && !isDottedName(name)) return m_json.failHere("a keyword argument without a name");
  if (positional && !call.kwargs.empty()) return m_json.failHere("a positional argument after a keyword argument");
  if (!positional) {
    call.kwargs.emplace_back(std::move(name), std::move(value));
    return {};
  }
  std::vector<std::string>& names = m_reading.program.argumentNames[call.target];
  if (names.size() <= call.args.size()) names.resize(call.args.size() + 1);
  names[call.args.size()] = std::move(name);
  call.args.push_back(std::move(value));
  return {};
}

Result<void> NodeReader::readMetadata(Metadata& metadata) {
  return m_json.forEachMember([&](std::string key) -> Result<void> {
    KERF_TRY(std::string value, m_json.string());
    metadata.emplace_back(std::move(key), std::move(value));
    return {};
  });
}

Result<NodeReader::Output> NodeReader::readOutput() {
  Output output;
  const auto readOne = [&](std::string& into) {
    return m_json.forEachMember([&](const std::string& field) -> Result<void> {
      if (field != "name" && field != "as_name") {
        KERF_CHECK(m_json.skip());
        return {};
      }
      KERF_TRY(into, m_json.string());
      return {};
    });
  };
  bool seen = false;
  KERF_CHECK(m_json.forEachMember([&](const std::string& key) -> Result<void> {
    if (std::exchange(seen, true)) return m_json.failHere("a result of more than one kind");
    output.isNone = key == "as_none";
    output.isList = key == "as_tensors" || (key.starts_with("as_sym_") && key.ends_with("s"));
    if (output.isList) return m_json.forEachElement([&] { return readOne(output.names.emplace_back()); });
    if (key == "as_tensor" || key.starts_with("as_sym_") || key == "as_custom_obj") return readOne(output.name);
    if (!output.isNone) return m_json.failHere(fmt::format("a node cannot return '{}'", key));
    KERF_CHECK(m_json.skip());
    return {};
  }));
  return output;
}

Result<void> NodeReader::addCall(Call& call) {
  NodeMeta meta;
  applyNodeMetadata(std::move(call.metadata), meta);
  const bool one = call.outputs.size() == 1 && !call.outputs[0].isList && !call.outputs[0].isNone &&
                   (!call.higherOrder() || call.singleReturn.value_or(true));
  std::string name = call.name;
  if (one) name = call.outputs[0].name;
  if (one && name.empty()) return m_json.failHere("a node's result has no name");
  const bool nameless = name.empty() && call.outputs.size() == 1 && call.outputs[0].isNone;
  if (nameless) name = nameFromTarget(Opcode::CallFunction, call.target) + "_unused";
  const NodeId node =
      name.empty() || nameless
          ? graph().createNode(Opcode::CallFunction, call.target, std::move(call.args), std::move(call.kwargs), name)
          : graph().createNamed(Opcode::CallFunction, call.target, std::move(call.args), std::move(call.kwargs), name);
  if (one) {
    KERF_CHECK(define(name, node));
  } else if (!call.outputs.empty() && !(call.outputs.size() == 1 && call.outputs[0].isNone)) {
    std::vector<Output> outputs = std::move(call.outputs);
    if (outputs.size() == 1 && outputs[0].isList) {  // a list, as of unbind: its elements are the node's
      m_reading.program.listReturns.insert(call.target);
      std::vector<Output> elements;
      for (std::string& element : outputs[0].names) elements.push_back({std::move(element), {}, false, false});
      outputs = std::move(elements);
    }
    KERF_CHECK(addOutputs(node, outputs, meta));
  }
  graph().setMeta(node, std::move(meta));
  return {};
}

Result<void> NodeReader::addOutputs(NodeId node, const std::vector<Output>& outputs, const NodeMeta& meta) {
  const std::size_t slot = m_sequences.size();
  m_sequences.emplace_back(node, std::vector<NodeId>());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Output& output = outputs[i];
    KERF_TRY(const NodeId item, addItem(node, i, output.isNone ? std::string("as_none") : output.name, meta));
    m_sequences[slot].second.push_back(item);
    if (output.isNone) m_reading.program.noneResults.insert(programName(item));
    if (output.isList) {
      std::vector<Output> elements;
      for (const std::string& name : output.names) elements.push_back({name, {}, false, false});
      KERF_CHECK(addOutputs(item, elements, meta));
    } else if (!output.isNone) {
      KERF_CHECK(define(output.name, item));
    }
  }
  return {};
}

Result<NodeId> NodeReader::addItem(NodeId sequence, std::size_t index, const std::string& name, const NodeMeta& meta) {
  KERF_CHECK(count());
  ArgumentList args{Argument(sequence), Argument(std::int64_t(index))};
  const NodeId item = name.empty()
                          ? graph().createNode(Opcode::CallFunction, "operator.getitem", std::move(args), {}, {})
                          : graph().createNamed(Opcode::CallFunction, "operator.getitem", std::move(args), {}, name);
  graph().setMeta(item, meta);
  return item;
}

void NodeReader::describeSequences() {
  for (auto sequence = m_sequences.rbegin(); sequence != m_sequences.rend(); ++sequence) {
    std::vector<ValueMeta> metas;
    for (const NodeId item : sequence->second) metas.push_back(graph().node(item).meta().value);
    graph().setValueMeta(sequence->first, {std::move(metas)});
  }
}

}  // namespace kerf::inline capture::pt2
