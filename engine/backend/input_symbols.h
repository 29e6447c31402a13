// InputSymbols: what the sizes of a graph's inputs say of its symbols.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "engine/ir/graph_module.h"
#include "engine/symbolic/symbolic.h"
#include "engine/tensor/value.h"

namespace kerf::inline backend {

class InputSymbols {
 public:
  /// Of the placeholders' annotations. Floats are left out: sizes do not tell them.
  explicit InputSymbols(const GraphModule& module);

  /// Whether a placeholder mentions a symbol.
  bool any() const { return !m_places.empty(); }
  /// The numbers that stand where the annotations have symbols: equal ones mean equal values of all symbols. bind()
  /// says where an input has no such number.
  Sizes numbers(const ValueList& inputs) const;
  /// Those of the annotations' examples.
  Sizes example() const;
  /// The value of every symbol. ShapeMismatch naming the input whose size contradicts the others, or a symbol that no
  /// input tells.
  Result<SymbolBindings> bind(const Sizes& numbers) const;

 private:
  /// A number of an input with symbols in it.
  struct Place {
    enum class Kind : std::uint8_t { Number, Size, Stride } kind = Kind::Number;
    std::size_t input = 0, dimension = 0;
    std::string node, text;
    std::int64_t example = 0;
    std::string where() const;
  };
  void addPlaces(std::size_t input, const Node& node);
  std::set<std::string> names() const;

  std::vector<Place> m_places;
};

/// Whether an argument of a call or of the output is written with symbols.
bool hasSymbolicArguments(const GraphModule& module);
/// A copy with the values of symbolic arguments in their place. BadInput for one that has none.
Result<GraphModule> withNumbers(const GraphModule& module, const SymbolBindings& values);
/// A copy in which the recorded sizes are those for these values of the symbols, derived anew where they are no text. What
/// a call refuses of them, as checkNumbers() says it.
Result<GraphModule> withExample(const GraphModule& module, const SymbolBindings& values);
/// The same for the recorded sizes too: a graph without symbols, but for those that `values` leaves open.
Result<GraphModule> atNumbers(const GraphModule& module, const SymbolBindings& values);
/// What a call refuses of these numbers, in the words of the call: sizes are numbers there, not symbols.
Result<void> checkNumbers(const GraphModule& module, const SymbolBindings& values);
/// A copy whose sizes are the recorded numbers only; those without one stay.
Result<GraphModule> withoutSymbols(const GraphModule& module);

}  // namespace kerf::inline backend
