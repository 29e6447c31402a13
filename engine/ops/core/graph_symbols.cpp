#include "engine/ops/core/graph_symbols.h"

#include <algorithm>

namespace kerf::inline ops {
namespace {

/// One number of a placeholder: where it is found, as text and value.
struct Place {
  const SymExpr* number;
  std::string source;
  bool isSize;
};

bool isSymbolic(const SymExpr& number) {
  return !number.text.empty() && number.text.find_first_not_of("-0123456789") != std::string::npos;
}

/// Those with symbols only: most graphs have none, and pay nothing for the names of places.
void addPlaces(const std::vector<Dim>& numbers, std::string_view kind, const std::string& name,
               std::vector<Place>& places) {
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (isSymbolic(numbers[i]))
      places.push_back({&numbers[i], fmt::format("{}.{}()[{}]", name, kind, i), kind == "size"});
}

void addPlaces(const ValueMeta& meta, const std::string& name, std::vector<Place>& places) {
  if (const SymMeta* sym = meta.sym(); sym && isSymbolic(sym->expr)) places.push_back({&sym->expr, name, false});
  if (const auto* list = meta.list())
    for (std::size_t i = 0; i < list->size(); ++i) addPlaces((*list)[i], fmt::format("{}[{}]", name, i), places);
  if (const TensorMeta* tensor = meta.tensor()) {
    addPlaces(tensor->sizes, "size", name, places);
    addPlaces(tensor->strides, "stride", name, places);
  }
}

std::vector<Place> symbolicPlaces(const GraphModule& module) {
  std::vector<Place> places;
  for (const NodeId id : module.graph.placeholders()) {
    const Node& node = module.graph.node(id);
    addPlaces(node.meta().value, node.name(), places);
  }
  return places;
}

SymbolBindings recordedValues(const std::vector<Place>& places) {
  std::vector<SizeEquation> equations;
  for (const Place& place : places)
    if (place.number->hint) equations.push_back({place.source, place.number->text, *place.number->hint});
  const auto solved = solveSizes(equations);
  return solved ? *solved : SymbolBindings();
}

ValueRange newRange(const std::string& name, bool isSize, std::optional<std::int64_t> hint) {
  if (!isSize || name.starts_with('z')) return {};
  if (name.starts_with('u')) return {0, ValueRange::greatest};
  return {std::clamp<std::int64_t>(hint.value_or(2), 0, 2), ValueRange::greatest};
}

const SymbolRange* recordedRange(const GraphModule& module, const std::string& name) {
  const auto found = std::ranges::find(module.symbolRanges, name, &SymbolRange::name);
  return found == module.symbolRanges.end() ? nullptr : &*found;
}

ValueRange rangeOf(const SymbolRange& recorded) {
  return {recorded.lower.value_or(ValueRange::least), recorded.upper.value_or(ValueRange::greatest)};
}

/// Unbacked symbols are made inside a graph: what was recorded of them stands though no placeholder has them.
void addUnbackedRanges(const GraphModule& module, ShapeEnv& env) {
  for (const SymbolRange& recorded : module.symbolRanges)
    if (recorded.name.starts_with('u'))
      env.addSymbol({.name = recorded.name, .range = rangeOf(recorded), .source = recorded.source});
}

/// What was recorded of a symbol goes before what PyTorch thinks of a new one, unless its value contradicts it.
void useRecorded(const SymbolRange& recorded, ShapeSymbol& symbol) {
  if (symbol.source.empty()) symbol.source = recorded.source;
  const ValueRange range = rangeOf(recorded);
  if (!range.isEmpty() && (!symbol.hint || range.contains(*symbol.hint))) symbol.range = range;
}

}  // namespace

void addGraphSymbols(const GraphModule& module, ShapeEnv& env) {
  addUnbackedRanges(module, env);
  const std::vector<Place> places = symbolicPlaces(module);
  if (places.empty()) return;
  const SymbolBindings values = recordedValues(places);
  std::set<std::string> inSizes;
  for (const Place& place : places)
    if (place.isSize) collectSymbols(place.number->text, inSizes);
  int assumed = 0;
  // Sizes that are one symbol name its source; the other texts only bring symbols.
  for (const bool plain : {true, false})
    for (const Place& place : places) {
      std::set<std::string> names;
      collectSymbols(place.number->text, names);
      if (plain != names.contains(place.number->text)) continue;
      for (const std::string& name : names) {
        const auto known = values.find(name);
        ShapeSymbol symbol{.name = name};
        if (known != values.end()) symbol.hint = known->second;
        symbol.range = newRange(name, inSizes.contains(name), symbol.hint);
        if (plain) symbol.source = place.source;
        if (const SymbolRange* recorded = recordedRange(module, name)) useRecorded(*recorded, symbol);
        const bool isBacked = !name.starts_with('u');
        if (!symbol.hint && isBacked && !env.findSymbol(name)) {
          const std::int64_t unlikely = 24 + 7 * std::int64_t{assumed++};  // like no other number of a graph
          symbol.hint = std::clamp(unlikely, symbol.range.lower, symbol.range.upper);
          symbol.isHintAssumed = true;
        }
        env.addSymbol(symbol);
      }
    }
}

}  // namespace kerf::inline ops
