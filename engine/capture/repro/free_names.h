// Names that the text of a graph uses and that only an import binds.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kerf::inline capture {

/// Import lines that `text` needs and `header` lacks: "from math import nan\n". Empty for most graphs: PyTorch's own
/// header binds all but nan.
std::string importsFor(std::string_view text, std::string_view header);

/// What FX's code names after functions of PyTorch's compiler that are made while it runs
/// ("torch__dynamo_compiled_autograd_ops_SumBackward0"): nothing in a file can bind them. In order, each once.
std::vector<std::string> compilerNames(std::string_view text);

}  // namespace kerf::inline capture
