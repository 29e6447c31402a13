#include "engine/audit/symbol_names.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace kerf::inline audit {
namespace {

using NameSet = std::set<std::string, std::less<>>;

/// "s33", "u0"
bool isSizeSymbol(std::string_view name) {
  return name.size() >= 2 && (name[0] == 's' || name[0] == 'u') &&
         std::ranges::all_of(name.substr(1), [](char c) { return c >= '0' && c <= '9'; });
}

void addNames(const SyntaxNode& target, NameSet& names) {
  if (target.is(SyntaxKind::Name)) names.insert(target.text);
  if (target.is(SyntaxKind::Tuple))
    for (const SyntaxNode& each : target.items) addNames(each, names);
}

/// What statements of one function, not of those inside of it, give a value.
void addAssigned(const SyntaxNode& node, NameSet& names) {
  if (node.is(SyntaxKind::Assign) || node.is(SyntaxKind::For)) addNames(node.items[0], names);
  for (const SyntaxNode& each : node.items)
    if (!each.is(SyntaxKind::Define) && !each.is(SyntaxKind::Class)) addAssigned(each, names);
}

void claimUses(const SyntaxNode& node, const NameSet& known, const std::string& function, NameSet& told,
               ClaimList& claims) {
  if (node.is(SyntaxKind::Name) && isSizeSymbol(node.text) && told.insert(node.text).second) {
    if (known.contains(node.text))
      claims.proved(ClaimAbout::Alive);
    else
      claims.add({ClaimAbout::Alive,
                  ClaimVerdict::Refuted,
                  node.line,
                  0,
                  node.text,
                  fmt::format("{} uses it, and nothing defines it there", function),
                  {}});
  }
  for (const SyntaxNode& each : node.items)
    if (!each.is(SyntaxKind::Define) && !each.is(SyntaxKind::Class)) claimUses(each, known, function, told, claims);
}

void claimFunctions(const SyntaxNode& block, const NameSet& outer, ClaimList& claims) {
  for (const SyntaxNode& node : block.items) {
    if (node.is(SyntaxKind::Class) && !node.items.empty()) claimFunctions(node.items[0], outer, claims);
    if (!node.is(SyntaxKind::Define) || node.items.size() < 2) continue;
    NameSet known = outer, told;
    addNames(node.items[0], known);
    addAssigned(node.items[1], known);
    claimUses(node.items[1], known, node.text, told, claims);
    claimFunctions(node.items[1], known, claims);
  }
}

}  // namespace

void claimSymbols(const OutputProgram& program, ClaimList& claims) {
  NameSet globals;
  addAssigned(program.module, globals);
  claimFunctions(program.module, globals, claims);
}

}  // namespace kerf::inline audit
