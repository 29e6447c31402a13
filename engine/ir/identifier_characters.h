// Characters beyond ASCII that Python names may have, in normal form. Private to engine/ir.
#pragma once

#include <cstdint>
#include <vector>

namespace kerf::inline ir {

/// Whether a name may begin with this character (beyond ASCII).
bool startsIdentifier(std::uint32_t code);
/// Whether a name may have it behind its first character.
bool continuesIdentifier(std::uint32_t code);
/// Whether NFKC leaves these characters of a name as they are: Python takes `x̂`, and `e` with an accent behind it for
/// the one character é.
bool isNormalForm(const std::vector<std::uint32_t>& codes);

}  // namespace kerf::inline ir
