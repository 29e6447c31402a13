#include "engine/audit/syntax/syntax_node.h"

#include <charconv>

namespace kerf::inline audit {

const SyntaxNode& SyntaxNode::missing() {
  static const SyntaxNode nothing;
  return nothing;
}

const SyntaxNode* SyntaxNode::keyword(std::string_view name) const {
  for (std::size_t i = 0; i < keywords.size(); ++i)
    if (keywords[i] == name) return &items[i + 1];
  return nullptr;
}

std::string SyntaxNode::dotted() const {
  if (kind == SyntaxKind::Name) return text;
  if (kind != SyntaxKind::Member) return {};
  std::string base = items[0].dotted();
  return base.empty() ? std::string() : base + '.' + text;
}

std::optional<std::int64_t> SyntaxNode::integer() const {
  if (kind == SyntaxKind::Unary && text == "-") {
    const auto value = items[0].integer();
    return value ? std::optional(-*value) : std::nullopt;
  }
  if (kind != SyntaxKind::Number) return std::nullopt;
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc()) return std::nullopt;
  for (const char* rest = at; rest != end; ++rest)
    if (*rest != 'L' && *rest != 'l' && *rest != 'U' && *rest != 'u') return std::nullopt;
  return value;
}

}  // namespace kerf::inline audit
