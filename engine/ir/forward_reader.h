// ForwardReader: reads `def forward(…):` and its body into a graph. Private to engine/ir.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/ir/expression_lowering.h"
#include "engine/ir/graph_module.h"
#include "engine/ir/parser.h"
#include "engine/ir/python_lexer.h"

namespace kerf::inline ir {

class ForwardReader {
 public:
  /// `text` starts at the line of the `def`. `partial`: what to tell of a text of which only a part can be read.
  ForwardReader(std::string_view text, int line, GraphModule& module, PartialReading* partial = nullptr);

  /// Reads up to the first statement that is not indented deeper than the `def`.
  Result<void> read();
  /// Where reading ended: an offset into `text` and its line.
  std::size_t endOffset() const { return m_endOffset; }
  int endLine() const { return m_endLine; }

 private:
  struct Parameter {
    std::string target;
    std::string nodeName;
    NodeMeta meta;
    ArgumentList defaultValue;
  };
  struct Targets;

  Result<void> signature();
  Result<void> parameter();
  Result<void> body();
  Result<void> statement();
  Result<void> statementOrSkip();
  void skipToNextStatement(std::size_t begin, int line);
  Result<void> returnWhatIsUnused();
  int lastLine() const;
  Result<void> simpleStatement();
  Result<void> returnStatement();
  Result<void> annotationOnly(const PythonExpression& target);
  Result<void> annotatedNames(PythonExpression& target);
  Result<void> assignment(std::vector<PythonExpression> targets, PythonExpression value);
  Result<void> assignName(const PythonExpression& target, const PythonExpression& value);
  Result<void> unpack(const PythonExpression& target, const PythonExpression& value);
  Result<void> inplaceStatement(const PythonExpression& target, std::string_view op);
  Result<bool> bindingPrologue(const PythonExpression& target, const PythonExpression& value);
  Result<bool> flattenPrologue(const PythonExpression& target, const PythonExpression& value);
  Result<void> bindPlaceholders(const PythonExpression& targets);
  Result<void> annotation();
  void comment(std::string_view text);
  void describe(int line, std::string_view text);
  bool isRename(const PythonExpression& target, const PythonExpression& value);
  void applyMeta();
  std::string placeholderName(const Parameter& parameter) const;
  Result<void> checkParameters() const;
  Result<void> createPlaceholders();
  std::string_view textBetween(std::size_t begin, std::size_t end) const;

  std::string_view m_text;
  PythonLexer m_lexer;
  GraphModule& m_module;
  ExpressionLowering m_lowering;
  std::vector<Parameter> m_parameters;
  std::unordered_map<std::string, NodeMeta> m_declared;  ///< annotation-only lines of pytree signatures
  NodeMeta m_meta;                                       ///< of the statement being read: stack trace and annotation
  std::size_t m_valueBegin = 0;                          ///< offset of the assigned value being read
  std::size_t m_column = 0;                              ///< of the `def`
  int m_line = 0;                                        ///< of the `def`
  bool m_placeholdersDone = false;
  bool m_shuffled = false;  ///< Export: self._in_shuffle_graph has bound the placeholders
  bool m_returned = false;
  PartialReading* m_partial = nullptr;
  std::size_t m_readAgain = 0;     ///< bytes that were read once more behind what was skipped
  std::size_t m_bodyColumn = 0;    ///< of the first statement
  std::vector<NodeId> m_leftOver;  ///< made by statements that were skipped then
  std::set<std::string> m_freed;   ///< names that the text sets to None
  std::size_t m_endOffset = 0;
  int m_endLine = 0;
  int m_uncalledLine = 0;  ///< of a last statement that only names a function; else 0
};

}  // namespace kerf::inline ir
