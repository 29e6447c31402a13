// The arguments of a call by schema, however they are written: by place, by name, or left at their default.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/ops/core/op_registry.h"

namespace kerf::inline patterns {

/// What a call gives for the argument at `place` (SIZE_MAX: by name only) or of `name`; its schema's default; none.
std::optional<Argument> argumentOf(const Node& call, const OpInfo* op, std::size_t place, std::string_view name);
/// The schema's name of the argument at `place`; empty where it is not known.
std::string_view argumentName(const OpInfo* op, std::size_t place);
/// Where the schema has `name`; SIZE_MAX where it has not.
std::size_t argumentPlace(const OpInfo* op, std::string_view name);
/// Whether `value` is what the schema gives an argument that is left out. Layout and pinning of memory never matter.
bool isDefault(const OpInfo* op, std::string_view name, const Argument& value);

}  // namespace kerf::inline patterns
