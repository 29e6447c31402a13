#include "engine/partition/saved_symbols.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

namespace kerf::inline partition {

namespace {

bool isWordPart(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// "s27*s77 + Max(1, u0)" mentions s27, s77 and u0: words that are no numbers and no functions.
void addSymbols(const std::string& text, std::set<std::string>& symbols) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!isWordPart(text[at])) continue;
    const std::size_t start = at;
    while (at < text.size() && isWordPart(text[at])) ++at;
    const bool isNumber = std::isdigit(static_cast<unsigned char>(text[start])) != 0;
    if (!isNumber && (at == text.size() || text[at] != '(')) symbols.insert(text.substr(start, at - start));
  }
}

std::set<std::string> symbolsOf(const ValueMeta& meta) {
  std::set<std::string> symbols;
  if (meta.sym() != nullptr) addSymbols(meta.sym()->expr.text, symbols);
  if (const TensorMeta* tensor = meta.tensor())
    for (const auto* dims : {&tensor->sizes, &tensor->strides})
      for (const Dim& dim : *dims) addSymbols(dim.text, symbols);
  return symbols;
}

/// The symbol that a node is by itself; empty for expressions and everything else.
std::string boundSymbol(const Node& node) {
  const SymMeta* sym = node.meta().value.sym();
  if (sym == nullptr || node.op() != Opcode::Placeholder) return {};
  const std::set<std::string> symbols = symbolsOf(node.meta().value);
  return symbols.size() == 1 && *symbols.begin() == sym->expr.text ? sym->expr.text : std::string();
}

}  // namespace

std::vector<int> withBoundSymbols(const JointGraph& joint, const std::vector<int>& symbols,
                                  const std::vector<int>& saved) {
  std::map<std::string, int> binders;
  std::vector<int> mentioning, binding, derived;
  for (int place = 0; place < int(joint.nodes.size()); ++place)
    if (std::string symbol = boundSymbol(joint.node(place)); !symbol.empty()) binders.emplace(std::move(symbol), place);
  std::set<std::string> bound;
  for (const int place : symbols) {
    const std::string symbol = boundSymbol(joint.node(place));
    (symbol.empty() ? derived : binding).push_back(place);
    if (!symbol.empty()) bound.insert(symbol);
  }
  mentioning = derived;
  mentioning.insert(mentioning.end(), saved.begin(), saved.end());
  for (int place = 0; place < int(joint.nodes.size()); ++place) {
    const Node& node = joint.node(place);
    if (node.op() == Opcode::Placeholder && jointInputOf(node) == JointInput::Tangent) mentioning.push_back(place);
  }
  for (const int place : mentioning)
    for (const std::string& symbol : symbolsOf(joint.node(place).meta().value)) {
      const auto binder = binders.find(symbol);
      if (binder != binders.end() && bound.insert(symbol).second) binding.push_back(binder->second);
    }
  binding.insert(binding.end(), derived.begin(), derived.end());
  return binding;
}

}  // namespace kerf::inline partition
