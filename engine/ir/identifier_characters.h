// Characters beyond ASCII that Python names may have, in normal form. Private to engine/ir.
#pragma once

#include <cstdint>

namespace kerf::inline ir {

/// Whether a name may begin with this character (beyond ASCII).
bool startsIdentifier(std::uint32_t code);
/// Whether a name may have it behind its first character.
bool continuesIdentifier(std::uint32_t code);

}  // namespace kerf::inline ir
