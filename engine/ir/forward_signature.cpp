// How a forward method binds its inputs: parameters, renamed parameters, pytree, export and boxed prologues.
#include <algorithm>
#include <unordered_set>

#include "engine/ir/forward_reader.h"
#include "engine/ir/python_operators.h"

namespace kerf::inline ir {
namespace {

bool callsName(const PythonExpression& e, std::string_view name) {
  return e.kind == PythonKind::Call && e.items.front().isName(name);
}

std::vector<std::string> namesOf(const PythonExpression& targets) {
  std::vector<std::string> out;
  if (targets.kind == PythonKind::Name) return {targets.text};
  for (const PythonExpression& item : targets.items) out.push_back(item.text);
  return out;
}

/// Text between the outer parentheses of the call that ends the statement.
std::string callArguments(std::string_view statement) {
  const std::size_t open = statement.find('(');
  const std::size_t close = statement.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return {};
  return std::string(statement.substr(open + 1, close - open - 1));
}

}  // namespace

/// `…, = fx_pytree.tree_flatten_spec(…)` and `…, = pytree.tree_leaves(…)`: the leaves of the parameters.
Result<bool> ForwardReader::flattenPrologue(const PythonExpression& target, const PythonExpression& value) {
  CodeGen& codegen = m_module.codegen;
  const bool isExport = value.items.front().text == "pytree.tree_leaves";
  codegen.kind = isExport ? CodeGen::Kind::Export : CodeGen::Kind::Pytree;
  codegen.parameters.clear();
  for (const Parameter& parameter : m_parameters) codegen.parameters.push_back(parameter.target);
  codegen.flattenArguments = callArguments(m_text.substr(m_valueBegin, m_lexer.lastEnd() - m_valueBegin));
  if (!isExport) {
    KERF_CHECK(bindPlaceholders(target));
    return true;
  }
  codegen.leafNames = namesOf(target);
  for (const std::string& name : codegen.leafNames)
    if (!isPythonIdentifier(name)) return pythonError(target.line, "only names can be unflattened into");
  return true;
}

/// `a: f32[2], b: i64[], = …`, as torch 2.0 printed it: the first name becomes the list of them.
Result<void> ForwardReader::annotatedNames(PythonExpression& target) {
  PythonExpression names{PythonKind::Tuple, target.line, 0, {}, {}, {}};
  KERF_CHECK(annotationOnly(target));
  names.items.push_back(std::move(target));
  while (m_lexer.accept(",") && m_lexer.peek().kind == PythonTokenKind::Name) {
    KERF_TRY(auto name, PythonParser(m_lexer).expression());
    m_meta.value = {};
    m_meta.annotation.clear();
    if (m_lexer.accept(":")) KERF_CHECK(annotation());
    KERF_CHECK(annotationOnly(name));
    names.items.push_back(std::move(name));
  }
  target = std::move(names);
  return {};
}

/// Whether the assignment belongs to the signature instead of the graph; it is dealt with then.
Result<bool> ForwardReader::bindingPrologue(const PythonExpression& target, const PythonExpression& value) {
  if (m_placeholdersDone) return false;
  CodeGen& codegen = m_module.codegen;
  const bool isPlain = codegen.kind == CodeGen::Kind::Plain;
  if (isPlain && (callsName(value, "fx_pytree.tree_flatten_spec") || callsName(value, "pytree.tree_leaves")))
    return flattenPrologue(target, value);
  if (codegen.kind == CodeGen::Kind::Export && callsName(value, "self._in_shuffle_graph")) {
    KERF_CHECK(bindPlaceholders(target));
    m_shuffled = true;
    return true;
  }
  const auto takes = [&](std::string_view argument) {
    return value.positionalCount() == 1 && value.keywords.empty() && value.positional(0).isName(argument);
  };
  if (isPlain && callsName(value, "iter") && takes("args_list") && m_parameters.size() == 1 &&
      m_parameters[0].target == "args_list") {
    codegen.kind = CodeGen::Kind::Boxed;
    m_parameters.clear();
    return true;
  }
  if (codegen.kind != CodeGen::Kind::Boxed || !callsName(value, "next") || !takes("args_iter") ||
      target.kind != PythonKind::Name || !isPythonIdentifier(target.text))
    return false;
  m_parameters.push_back({target.text, target.text, {}, {}});
  return true;
}

Result<void> ForwardReader::bindPlaceholders(const PythonExpression& targets) {
  m_parameters.clear();
  for (const std::string& name : namesOf(targets)) {
    if (!isPythonIdentifier(name)) return pythonError(targets.line, "only names can be unflattened into");
    const auto declared = m_declared.find(name);
    m_parameters.push_back({name, name, declared == m_declared.end() ? NodeMeta{} : declared->second, {}});
  }
  return {};
}

/// `l_x_ = L_x_` above the first node names the placeholder of parameter L_x_.
bool ForwardReader::isRename(const PythonExpression& target, const PythonExpression& value) {
  if (m_placeholdersDone || target.kind != PythonKind::Name || value.kind != PythonKind::Name) return false;
  const auto parameter = std::ranges::find_if(m_parameters, [&](const Parameter& candidate) {
    return candidate.nodeName == value.text && candidate.target.ends_with(value.text);
  });
  const bool isTaken = std::ranges::any_of(m_parameters, [&](const Parameter& other) {
    return other.nodeName == target.text ||
           std::string_view(other.target).substr(other.target.rfind('*') + 1) == target.text;
  });
  if (parameter == m_parameters.end() || isTaken || target.text.find('.') != std::string::npos) return false;
  parameter->nodeName = target.text;
  return true;
}

void ForwardReader::applyMeta() { m_lowering.setMeta(m_meta); }

/// The parameter's own name or, where a local of that name would hide what the code refers to, a free one.
std::string ForwardReader::placeholderName(const Parameter& parameter) const {
  std::string name = parameter.nodeName;
  const auto taken = [&](const Parameter& other) { return other.nodeName == name || other.target == name; };
  for (int number = 1;
       isMeaningfulName(name) || (name != parameter.nodeName && std::ranges::any_of(m_parameters, taken)); ++number)
    name = fmt::format("{}_{}", parameter.nodeName, number);
  return name;
}

/// Each name once, and an export prologue up to its end.
Result<void> ForwardReader::checkParameters() const {
  if (m_module.codegen.kind == CodeGen::Kind::Export && !m_shuffled)
    return pythonError(m_line, "no self._in_shuffle_graph follows pytree.tree_leaves");
  std::unordered_set<std::string_view> seen;
  for (const Parameter& parameter : m_parameters) {
    const std::string_view name = std::string_view(parameter.target).substr(parameter.target.rfind('*') + 1);
    if (!seen.insert(name).second)
      return pythonError(m_line, fmt::format("forward has two arguments named '{}'", name));
  }
  return {};
}

Result<void> ForwardReader::createPlaceholders() {
  if (m_placeholdersDone) return {};
  KERF_CHECK(checkParameters());
  m_placeholdersDone = true;
  std::vector<std::pair<std::string, NodeId>> renamed;
  for (Parameter& parameter : m_parameters) {
    m_lowering.setMeta(parameter.meta);
    const std::string name = placeholderName(parameter);
    const NodeId node =
        m_lowering.addNode(Opcode::Placeholder, parameter.target, std::move(parameter.defaultValue), {}, name);
    std::string raw = parameter.target;
    std::erase(raw, '*');
    KERF_CHECK(m_lowering.bind(raw, node, 0));
    if (name != raw) renamed.emplace_back(name, node);
  }
  for (const auto& [name, node] : renamed) KERF_CHECK(m_lowering.bind(name, node, 0));
  return {};
}

}  // namespace kerf::inline ir
