// Expressions of an export: which may stand there. Private to the auditor.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/capture/audit/allowed_calls.h"
#include "engine/capture/audit/audit_lexer.h"

namespace kerf::inline capture {

using AuditNames = std::unordered_set<std::string>;

/// Where an expression stands: what it may call depends on it.
enum class AuditPlace : std::uint8_t { Module, Init, Forward, Loader, Main, Guard };

/// One parsed expression, not yet judged as a value: it may also become a target or a callee.
struct AuditValue {
  enum class Kind : std::uint8_t { Other, Literal, Path, Method, Result, Item, Empty };
  Kind kind = Kind::Other;
  std::string path;  ///< Path: "torch.ops.aten.relu.default"; Method: the attribute's name; Result: what was called
  int line = 0;
};

/// Reads expressions from tokens and refuses what is not on its lists. Local and global names are the statements'.
class AuditExpressions {
 public:
  AuditExpressions(const std::vector<AuditToken>& tokens, const ExtraCalls& extra) : m_tokens(tokens), m_extra(extra) {}

  AuditPlace place = AuditPlace::Module;
  bool anyTypeText = false;  ///< types in quotes may be any text: Python does not read it
  AuditNames locals, classes;
  AuditNames subgraphs;                                  ///< locals that are attributes of self
  std::unordered_map<std::string, std::string> globals;  ///< and what is assigned to them
  std::unordered_map<std::string, bool> bound;           ///< below self, by __init__; whether it is a module

  const AuditToken& peek(std::size_t ahead = 0) const { return m_tokens[std::min(m_at + ahead, m_tokens.size() - 1)]; }
  AuditToken take() { return m_tokens[m_at + 1 < m_tokens.size() ? m_at++ : m_at]; }
  bool accept(std::string_view op);
  bool acceptName(std::string_view name);
  Result<void> expect(std::string_view op);
  Result<void> expectKind(AuditKind kind, std::string_view what);
  std::unexpected<Error> refuse(std::string_view what) const;

  /// Items with commas between, not judged yet.
  Result<std::vector<AuditValue>> list();
  /// One expression that is a value.
  Result<void> value();
  /// Judges what was parsed as a value.
  Result<void> use(const AuditValue& value) const;
  /// Assigns `value` to a target; null where it is several values or none.
  Result<void> bind(const AuditValue& target, const AuditValue* value);
  /// What `+=` and the like change: a local, or an item.
  Result<void> change(const std::vector<AuditValue>& targets) const;
  /// A parameter's or a variable's type.
  Result<void> annotation();

 private:
  Result<AuditValue> expression();
  Result<AuditValue> unary();
  Result<AuditValue> atom();
  Result<AuditValue> postfix();
  Result<void> bindAttribute(const AuditValue& target, const AuditValue* value);
  Result<AuditValue> call(const AuditValue& callee);
  Result<void> arguments(const AuditValue& callee);
  Result<void> argument(const AuditValue& callee, std::size_t position);
  Result<void> symbolicText(const AuditToken& keyword);
  bool isSubgraph(const AuditValue& value) const;
  Result<AuditValue> attributeOf(const AuditValue& object);
  Result<AuditValue> getattrCall(int line);
  Result<void> item(const AuditValue& object);
  Result<AuditValue> dictionaryItem(int line);
  Result<void> itemsUntil(std::string_view close);
  Result<void> checkCallee(const AuditValue& callee) const;
  bool mayCallLocal(std::string_view path) const;
  bool mayCallGlobal(const std::string& path) const;
  bool mayCallInGuard(std::string_view path) const;
  bool mayCallSelf(std::string_view path) const;
  bool mayRead(std::string_view path) const;
  bool mayReadAttribute(std::string_view name) const;
  bool isExtra(const std::string& path) const;
  bool nextIsOperator();

  const std::vector<AuditToken>& m_tokens;
  const ExtraCalls& m_extra;
  std::size_t m_at = 0;
  int m_depth = 0;
};

/// Whether this is arithmetic over symbols: PyTorch has sympy evaluate the text that reader.symint gets as expr=.
bool isSymbolText(std::string_view text);

}  // namespace kerf::inline capture
