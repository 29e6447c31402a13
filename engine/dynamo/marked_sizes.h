// Sizes that torch._dynamo.mark_dynamic says may differ, and what PyTorch says where tracing fixed one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/dynamo/source.h"
#include "engine/python/reference.h"
#include "engine/symbolic/value_range.h"

namespace kerf::inline dynamo {

struct MarkedSize {
  SourcePtr source;
  std::int64_t now = 0;
  ValueRange asked;  ///< by mark_dynamic's min and max; without bounds where it gave none
};

/// Tracing cannot go on with what the program said of its sizes: it gets ConstraintViolationError with this text.
struct ConstraintViolation {
  std::string text;
};

/// Whether the set of dims that a tensor has by this name ("_dynamo_dynamic_indices") holds `dim`.
bool isMarkedDim(PyObject* tensor, const char* name, std::int64_t dim);
/// mark_dynamic's min and max for a dim.
ValueRange markedRange(PyObject* tensor, std::int64_t dim);

/// "You marked L['x'].size()[0] as dynamic but …", or the range that does not hold.
std::string specialisedText(const MarkedSize& size);
/// The same of one that a guard keeps in a part of the range that was asked for.
std::string narrowedText(const MarkedSize& size, const ValueRange& left);
/// The whole message for these: names of sizes and what is wrong with each.
std::string constraintsText(const std::vector<std::pair<std::string, std::string>>& violations);
[[noreturn]] void raiseOutOfRange(const MarkedSize& size);

/// Sets ConstraintViolationError.
void setConstraintError(const ConstraintViolation& violation);

}  // namespace kerf::inline dynamo
