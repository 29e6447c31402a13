// The guards of a graph, for people and for scripts.
#pragma once

#include "app/cli/context.h"

namespace kerf::cli {

std::string guardsText(const GuardsDoc& doc);
Json guardsJson(const std::string& graph, const GuardsDoc& doc);

}  // namespace kerf::cli
