// Characters beyond ASCII that Python names may have, in normal form. Private to engine/ir.
#pragma once

#include <cstdint>
#include <string_view>

namespace kerf::inline ir {

/// Whether a name may begin with this character (beyond ASCII).
bool startsIdentifier(std::uint32_t code);
/// Whether a name may have it behind its first character.
bool continuesIdentifier(std::uint32_t code);
/// Whether NFKC leaves a name (valid UTF-8) as it is: Python takes `x̂`, reads a full-width `ａ` as `a`, and `e` with an
/// accent behind it as the one character é.
bool isNormalForm(std::string_view name);

}  // namespace kerf::inline ir
