// ShapeEnv: the symbols of one graph, the expressions over them that SymInts stand for, and the guards under which what
// was derived holds (torch.fx.experimental.symbolic_shapes.ShapeEnv).
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/support/result.h"
#include "engine/symbolic/sym_sizes.h"
#include "engine/symbolic/symbolic.h"
#include "engine/symbolic/value_range.h"

namespace kerf::inline symbolic {

/// A symbol: backed ("s0", with an example value) or unbacked ("u0": known at run time only).
struct ShapeSymbol {
  std::string name;
  std::optional<std::int64_t> hint;
  ValueRange range;
  std::string source;          ///< "x.size()[0]": where its value is found; empty if nowhere
  bool isHintAssumed = false;  ///< the hint was not recorded: it serves decisions only
};

/// A condition that was decided by the hints: what was derived holds only where it is true.
struct ShapeGuard {
  Symbolic expression;
  std::string node;       ///< FX node whose shape rule asked; empty: nobody
  std::string where;      ///< "model.py:12" of that node, if it is known
  std::string reason;     ///< "specialised: its value was needed"; mostly empty
  bool deferred = false;  ///< a runtime assert: it was not decided, but is assumed (torch._check)
};

/// One thread. SymInts made in its scope must not outlive it.
class ShapeEnv {
 public:
  ShapeEnv();
  ~ShapeEnv();
  ShapeEnv(const ShapeEnv&) = delete;
  ShapeEnv& operator=(const ShapeEnv&) = delete;

  /// While it lives SymInts of this thread are expressions of `env`. Scopes nest.
  class Scope {
   public:
    explicit Scope(ShapeEnv& env);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    ShapeEnv* m_before;
  };
  /// Of this thread; null outside of any Scope.
  static ShapeEnv* current();

  /// A symbol that exists already keeps its hint, its source and the narrower range.
  SymInt addSymbol(const ShapeSymbol& symbol);
  /// A fresh "u<n>" of that range, for a number that only running the graph gives. Without a source the asker is it.
  SymInt addUnbacked(const ValueRange& range, std::string source = {});
  /// Names of unbacked symbols that must not be given out again.
  void reserveUnbacked(std::string_view name);
  const std::vector<ShapeSymbol>& symbols() const { return m_symbols; }
  const ShapeSymbol* findSymbol(std::string_view name) const;
  SymbolBindings hints() const;

  /// The expression as a size; a plain integer if it is one. SymbolicFailure above `maximumWeight` parts.
  SymInt intern(const Symbolic& expression);
  /// Reads PyTorch's text. Symbols that were not added are added: with no hint, unbacked where named so.
  Result<SymInt> parse(std::string_view text);
  Symbolic expression(SymInt value) const;
  /// As PyTorch prints it, after replacements (a symbol that must be 8 is 8).
  const std::string& text(SymInt value);
  std::optional<std::int64_t> hint(SymInt value) const;
  /// hint(), unless it rests on an assumed one.
  std::optional<std::int64_t> recordedHint(SymInt value) const;
  ValueRange range(SymInt value);
  SymKind kind(SymInt value) const;
  /// The value with what guards have settled put in.
  SymInt resolved(SymInt value);

  SymInt result(SymOp op, SymInt a, SymInt b);
  /// Decided by ranges and facts; none where it may be either.
  std::optional<bool> known(SymRelation relation, SymInt a, SymInt b);
  /// The same of any boolean expression.
  std::optional<bool> known(const Symbolic& condition);
  /// known(), else by the hints, which records a guard. SymbolicFailure with PyTorch's words where there is no hint.
  bool decide(SymRelation relation, SymInt a, SymInt b);
  bool decideOr(SymRelation relation, SymInt a, SymInt b, bool fallback);
  /// Any boolean expression.
  bool decide(const Symbolic& condition);
  /// The hint, under the guard that it is the value.
  std::int64_t specialise(SymInt value);
  /// The same of a float or a bool.
  double specialiseReal(SymInt value);
  /// Assumes that `condition` holds (torch._check, a runtime assert): ranges and later decisions use it. BadInput where
  /// it is known to be false.
  Result<void> assume(const Symbolic& condition);

  /// A state to come back to: what was added since is forgotten then.
  struct Mark {
    std::size_t symbols, guards, facts, replacements;
    int nextUnbacked;
  };
  Mark mark() const;
  void rollBack(const Mark& mark);

  /// Who is asking from now on, for guards; both must live until the next call.
  void setAsker(std::string_view node, std::string_view file = {}, int line = 0);
  std::string_view asker() const { return m_node; }
  /// Every guard once, in the order in which they were needed.
  const std::vector<ShapeGuard>& guards() const { return m_guards; }
  /// Symbols that guards fixed: "s0" is 8, "s1" is "s0".
  struct Replacement {
    std::string symbol;
    Symbolic value;
    std::size_t guard;  ///< in guards()
  };
  const std::vector<Replacement>& replacements() const { return m_replacements; }
  /// The first guard that is false for these values; null if all hold. A guard over a symbol without value is skipped.
  const ShapeGuard* violated(const SymbolBindings& values) const;

  static constexpr std::size_t maximumWeight = 4000;          ///< parts of one expression
  static constexpr std::size_t maximumExpressions = 2000000;  ///< of one ShapeEnv

 private:
  struct Entry {
    Symbolic expression;
    std::optional<std::int64_t> hint;
    std::optional<ValueRange> range;
    std::uint64_t rangeGeneration = 0;
    SymInt resolved;
    std::uint64_t resolvedGeneration = 0;
    std::string text;
  };
  struct Key {
    std::uint8_t op;
    std::int64_t a, b;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };

  const Entry& entry(SymInt value) const;
  SymInt computed(SymOp op, SymInt a, SymInt b);
  std::optional<std::int64_t> hintOf(const Symbolic& expression) const;
  ValueRange symbolRange(std::string_view name) const;
  std::optional<bool> decidedByRange(SymRelation relation, SymInt a, SymInt b);
  bool isFact(SymRelation relation, SymInt a, SymInt b);
  void addGuard(const Symbolic& condition, std::string reason, bool deferred);
  void learn(const Symbolic& condition);
  void learnRelation(SymRelation relation, const Symbolic& a, const Symbolic& b);
  void narrow(std::string_view symbol, const ValueRange& range);
  bool replace(const std::string& symbol, const Symbolic& value);
  bool solveFor(const Symbolic& difference);
  [[noreturn]] void failOn(const Symbolic& condition) const;

  std::vector<ShapeSymbol> m_symbols;
  std::unordered_map<std::string, std::size_t> m_symbolIndex;
  std::deque<Entry> m_entries;
  std::unordered_multimap<std::size_t, std::uint32_t> m_byHash;
  std::unordered_map<std::string, SymInt> m_byText;
  std::unordered_map<Key, SymInt, KeyHash> m_results;
  std::unordered_map<Key, bool, KeyHash> m_decisions;
  std::uint64_t m_generation = 1;  ///< grows when symbols are replaced or ranges narrowed
  bool m_hasReplacements = false;
  std::vector<Replacement> m_replacements;
  std::vector<ShapeGuard> m_guards;
  std::vector<Symbolic> m_facts;
  std::string_view m_node, m_file;
  int m_line = 0;
  int m_nextUnbacked = 0;
  bool m_hasAssumedHints = false;
};

/// Whether an expression is an int, a float (true division, zf symbols) or a bool.
SymKind kindOf(const Symbolic& expression);

}  // namespace kerf::inline symbolic
