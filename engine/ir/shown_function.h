// Functions as str() shows them in tables and old dumps: "<built-in function add>", "<OpOverload(op='aten.add', …)>".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kerf::inline ir {

/// The target of which a text shows str(). "<function relu at 0x…>" is taken for the function of torch.nn.functional of
/// that name, which `guessed`, if given, then has.
std::string targetOfShown(std::string_view shown, std::vector<std::string>* guessed = nullptr);

}  // namespace kerf::inline ir
