// FX's node.type as text ("torch.Tensor"): the types that are understood, printed anew instead of copied.
#pragma once

#include <string>
#include <string_view>

namespace kerf::inline ir {

/// Whether this dotted name is a type that annotations may name; subscripts are not part of it.
bool isAnnotationType(std::string_view name);

/// The annotation as parsed, in Python's own spelling; empty if it is not understood, as all that would run code is.
std::string annotationTypeText(std::string_view annotation);

/// What stands in front of such an annotation where it is shown and stored: as a string, which Python does not run.
inline constexpr std::string_view unreadTypeMark = "not understood: ";
/// Whether this is an annotation, and none that is understood.
bool isUnreadType(std::string_view annotation);

}  // namespace kerf::inline ir
