// SymbolicProgram: a Program whose sizes are expressions, and the programs for the sizes that inputs have.
//
//   slot sizes [s0, 8], kernel bounds [8*s0], arena 32*s0      inputs with s0 = 16: [16, 8], [128], 512
#pragma once

#include <functional>
#include <unordered_map>

#include "engine/backend/backend.h"
#include "engine/backend/input_symbols.h"
#include "engine/backend/size_guards.h"
#include "engine/lower/lowered_graph.h"
#include "engine/runtime/program.h"
#include "engine/symbolic/shape_env.h"

namespace kerf::inline backend {

/// A program, and when its arena slots are in use; their buffers are slots.
struct ProgramLayout {
  Program program;
  std::vector<Lifetime> lifetimes;
};

/// The numbers of a program that depend on symbols.
class ProgramSizes {
 public:
  using Place = std::function<std::int64_t&(ProgramLayout&)>;

  /// `expression` gives the number at `place`.
  void add(const Symbolic& expression, Place place);
  /// `expression` gives the value of a constant slot.
  void addConstant(const Symbolic& expression, std::size_t slot);
  /// ShapeMismatch where an expression has no value for these symbols.
  Result<void> put(const SymbolBindings& values, ProgramLayout& layout) const;

 private:
  std::size_t indexOf(const Symbolic& expression);

  std::vector<Symbolic> m_expressions;  ///< each once
  std::unordered_map<std::string, std::size_t> m_known;
  std::vector<std::pair<std::size_t, Place>> m_places;
  std::vector<std::pair<std::size_t, std::size_t>> m_constants;  ///< expression, slot
};

/// A graph of this node alone, with its inputs as placeholders, for the interpreter.
std::shared_ptr<const GraphModule> singleNodeModule(const GraphModule& module, const Node& node);

class SymbolicProgram {
 public:
  /// `layout` at the example's sizes, for those that all guards allow.
  SymbolicProgram(ProgramLayout layout, ProgramSizes sizes, std::vector<SizeGuards> guards);

  /// Null where every guard holds. ShapeMismatch for inputs that contradict each other.
  Result<const GuardViolation*> violated(const ValueList& inputs);
  /// The program for these inputs; the one made last is kept. ShapeMismatch naming a guard that does not hold.
  Result<std::shared_ptr<const Program>> bind(const ValueList& inputs);

 private:
  Result<void> read(const ValueList& inputs);
  Result<std::shared_ptr<const Program>> instantiate() const;

  const ProgramLayout m_layout;
  const ProgramSizes m_sizes;
  const std::vector<SizeGuards> m_guards;
  const InputSymbols m_symbols;
  const bool m_hasSymbolicArguments;
  std::optional<Sizes> m_numbers;  ///< of the inputs that were read last
  SymbolBindings m_values;
  std::optional<GuardViolation> m_violation;
  std::shared_ptr<const Program> m_bound;  ///< for m_values, once it was asked for
};

}  // namespace kerf::inline backend
