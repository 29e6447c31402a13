// ExpressionLowering: turns the expressions of a forward method into nodes of a graph. Private to engine/ir.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "engine/ir/graph.h"
#include "engine/ir/parser.h"
#include "engine/ir/python_expression.h"

namespace kerf::inline ir {

class ExpressionLowering {
 public:
  explicit ExpressionLowering(Graph& graph) : m_graph(graph) {}

  /// Metadata that every node created from now on gets.
  void setMeta(NodeMeta meta) { m_meta = std::move(meta); }
  /// TooLarge when locals that stand for tuples of each other would unfold to more than a graph may hold.
  Result<void> bind(std::string_view name, Argument value, int line);
  bool isBound(std::string_view name) const { return m_locals.contains(std::string(name)); }
  /// Value of an expression; what is no literal becomes nodes. The outermost one is called `name` if that is not empty.
  Result<Argument> lower(const PythonExpression& expression, std::string_view name = {});
  /// Node for `target op= value` or `target[index] = value`, called `name`.
  Result<NodeId> inplace(const PythonExpression& target, std::string_view op, const PythonExpression& value,
                         std::string_view name);
  NodeId addNode(Opcode op, std::string_view target, ArgumentList args, KeywordArguments kwargs, std::string_view name);
  /// From now on names that nothing defines are placeholders, of which `partial` hears.
  void inventInputs(PartialReading* partial) { m_partial = partial; }

 private:
  Result<Argument> undefined(std::string_view name, int line);
  Result<Argument> resolveName(std::string_view name, int line);
  Result<Argument> resolveOther(const PythonExpression& expression, std::string_view name);
  Result<Argument> attributes(Argument object, std::string_view path, std::string_view name);
  Result<Argument> call(const PythonExpression& call, std::string_view name);
  Result<Argument> callNamed(const PythonExpression& call, std::string_view callee, std::string_view name);
  Result<Argument> operation(const PythonExpression& expression, std::string_view name);
  Result<Argument> functionCall(const PythonExpression& call, std::string target, std::string_view name);
  Result<Argument> methodCall(const PythonExpression& call, Argument object, const std::string& method,
                              std::string_view name);
  Result<Argument> attributeCall(const PythonExpression& call, std::string_view name);
  Result<Argument> local(const Argument& value, int line);
  Result<void> unpackKeywords(const PythonExpression& dict, KeywordArguments& out);
  Result<void> addKeyword(KeywordArguments& out, const std::string& key, const PythonExpression& value);
  Result<ArgumentList> positional(const PythonExpression& call);
  Result<KeywordArguments> keywords(const PythonExpression& call);
  /// Path of "self.a.b" or getattr(self.a, "0"), empty if it is none.
  std::string modulePath(const PythonExpression& expression) const;

  Graph& m_graph;
  NodeMeta m_meta;
  std::unordered_map<std::string, Argument> m_locals;
  std::set<std::string> m_freeSymbols;  ///< mentioned where no local had their name
  PartialReading* m_partial = nullptr;
  std::size_t m_unfolded = 0;  ///< values that mentions of locals stood for so far
};

}  // namespace kerf::inline ir
