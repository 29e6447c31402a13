// Whether a name is in normal form: Unicode's decomposition, ordering and composition, over the characters of names.
#include <algorithm>
#include <vector>

#include "engine/ir/identifier_characters.h"
#include "engine/ir/identifier_composites.h"
#include "engine/ir/identifier_marks.h"

namespace kerf::inline ir {
namespace {

/// Korean syllables are put together by arithmetic.
struct Hangul {
  static constexpr std::uint32_t syllables = 0xac00, leads = 0x1100, vowels = 0x1161, tails = 0x11a7;
  static constexpr std::uint32_t leadCount = 19, vowelCount = 21, tailCount = 28;
  static constexpr std::uint32_t count = leadCount * vowelCount * tailCount;
};

/// 0: it starts a sequence of its own.
int orderOf(std::uint32_t code) {
  const auto* found = std::ranges::lower_bound(combiningRanges, code, {}, &CombiningRange::last);
  return found != std::end(combiningRanges) && found->first <= code ? found->order : 0;
}

void decompose(std::uint32_t code, std::vector<std::uint32_t>& out) {
  if (code >= Hangul::syllables && code < Hangul::syllables + Hangul::count) {
    const std::uint32_t index = code - Hangul::syllables, tail = index % Hangul::tailCount;
    out.push_back(Hangul::leads + index / (Hangul::vowelCount * Hangul::tailCount));
    out.push_back(Hangul::vowels + index / Hangul::tailCount % Hangul::vowelCount);
    if (tail != 0) out.push_back(Hangul::tails + tail);
    return;
  }
  const auto* found = std::ranges::lower_bound(composedCharacters, code, {}, &ComposedCharacter::whole);
  if (found == std::end(composedCharacters) || found->whole != code) return out.push_back(code);
  decompose(found->first, out);
  out.push_back(found->second);
}

/// 0 if the two stay two.
std::uint32_t composed(std::uint32_t first, std::uint32_t second) {
  if (first >= Hangul::leads && first < Hangul::leads + Hangul::leadCount && second >= Hangul::vowels &&
      second < Hangul::vowels + Hangul::vowelCount)
    return Hangul::syllables +
           ((first - Hangul::leads) * Hangul::vowelCount + second - Hangul::vowels) * Hangul::tailCount;
  const bool isOpenSyllable = first >= Hangul::syllables && first < Hangul::syllables + Hangul::count &&
                              (first - Hangul::syllables) % Hangul::tailCount == 0;
  if (isOpenSyllable && second > Hangul::tails && second < Hangul::tails + Hangul::tailCount)
    return first + second - Hangul::tails;
  const auto* found = std::ranges::find_if(composedCharacters, [&](const ComposedCharacter& character) {
    return character.first == first && character.second == second;
  });
  return found == std::end(composedCharacters) ? 0 : found->whole;
}

std::vector<std::uint32_t> compose(const std::vector<std::uint32_t>& codes) {
  std::vector<std::uint32_t> out;
  std::size_t start = 0;
  int before = -1;  // order of the last character behind the start that stayed; -1: none
  for (const std::uint32_t code : codes) {
    const int order = orderOf(code);
    const bool mayJoin = !out.empty() && orderOf(out[start]) == 0 && before < order;
    const std::uint32_t whole = mayJoin ? composed(out[start], code) : 0;
    if (whole != 0) {
      out[start] = whole;
      continue;
    }
    if (order == 0) start = out.size();
    before = order == 0 ? -1 : order;
    out.push_back(code);
  }
  return out;
}

}  // namespace

bool isNormalForm(const std::vector<std::uint32_t>& codes) {
  std::vector<std::uint32_t> parts;
  for (const std::uint32_t code : codes) decompose(code, parts);
  for (auto at = parts.begin(); at != parts.end();) {
    const auto end = std::find_if(at + 1, parts.end(), [](std::uint32_t code) { return orderOf(code) == 0; });
    std::stable_sort(orderOf(*at) == 0 ? at + 1 : at, end,
                     [](std::uint32_t a, std::uint32_t b) { return orderOf(a) < orderOf(b); });
    at = end;
  }
  return compose(parts) == codes;
}

}  // namespace kerf::inline ir
