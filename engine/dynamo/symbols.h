// FrameSymbols: sizes and numbers of a frame's inputs that may differ from call to call, and what was decided about them.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/dynamo/frame_state.h"
#include "engine/dynamo/guards.h"
#include "engine/dynamo/marked_sizes.h"
#include "engine/symbolic/shape_env.h"
#include "engine/tensor/tensor.h"

namespace kerf::inline dynamo {

/// Which sizes are symbols: as torch.compile's `dynamic` says.
enum class DynamicMode { Automatic, Never, Always };

struct InputSymbol {
  std::string name;
  SourcePtr source;
  Ref number;  ///< what it is now: an int or a float
};

/// A graph break: a number that only running the graph gives would decide what is traced.
[[noreturn]] void dataDependent(const std::string& message);

class FrameSymbols {
 public:
  FrameSymbols();
  /// What stands for a tensor: its sizes are symbols where they may differ.
  Tensor fakeOf(PyObject* tensor, const SourcePtr& source, bool isStatic);
  /// The symbol of a number; none where it stays what it is.
  std::optional<SymNumber> numberOf(PyObject* number, const SourcePtr& source, bool isStatic);

  /// What an expression is for the values of this call: an int, a float or a bool.
  Ref hintOf(SymNumber number) const;
  /// Decided by the values of this call, which becomes a guard.
  bool decide(const Symbolic& condition);
  /// The hint, under the guard that it is the value.
  Ref specialise(SymNumber number);
  Symbolic expression(SymNumber number) const { return m_env->expression(m_env->resolved(number.value)); }

  /// The symbols of what a symbol is by now: none where a guard says its value.
  std::set<std::string> resolvedSymbols(const std::string& name) const {
    return expression({m_env->intern(Symbolic::symbol(name)), SymKind::Int}).symbols();
  }
  const InputSymbol* find(std::string_view name) const;
  /// Whether it depends on numbers that only running the graph gives (u0, zuf0).
  bool isUnbacked(const Symbolic& expression) const;
  /// torch._check of such a condition: decisions that follow take it for true.
  void assume(const Symbolic& condition);
  bool isEmpty() const { return m_symbols.empty(); }
  /// The conditions under which the graph holds.
  std::vector<Guard> guards() const;
  /// What PyTorch says of sizes that the program marked as dynamic and that were fixed; empty where there are none.
  std::string constraintViolations() const;
  ShapeEnv& env() { return *m_env; }

  FrameState* state = nullptr;  ///< null: sizes stay
  DynamicMode mode = DynamicMode::Automatic;

 private:
  SymInt sizeSymbol(std::int64_t size, const SourcePtr& source, bool shares, const ValueRange& asked = {});
  SymInt markedSize(PyObject* tensor, std::int64_t size, const SourcePtr& source, std::int64_t dim);
  std::string freshName(const std::string& source, const char* prefix);
  Guard guardOf(const Symbolic& condition) const;

  std::shared_ptr<ShapeEnv> m_env;
  ShapeEnv::Scope m_scope;
  std::vector<InputSymbol> m_symbols;
  std::vector<Symbolic> m_conditions;                        ///< besides those of the ShapeEnv
  std::vector<std::pair<SourcePtr, SourcePtr>> m_sameSizes;  ///< one symbol has both (duck shaping)
  std::vector<MarkedSize> m_marked;                          ///< by torch._dynamo.mark_dynamic
  int m_nextName = 0;
};

}  // namespace kerf::inline dynamo
