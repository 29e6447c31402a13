// How the ops that write along one dimension combine what they write with what is there.
#pragma once

#include <optional>
#include <string_view>

#include "engine/loops/loop_ir.h"
#include "engine/ops/core/lowering.h"
#include "engine/ops/core/op_call.h"

namespace kerf::inline ops {

enum class Writing : std::uint8_t { Assign, Sum, Product, Mean, Max, Min };

/// What `reduce` says: "sum", "add", "prod", "multiply", "mean", "amax", "amin"; none for another word.
std::optional<Writing> writingNamed(std::string_view name);

/// How two numbers, or two truths, become one; none of Assign. A mean's sum is divided afterwards.
struct WritingOp {
  Writing writing;
  ExprOp numbers, truths;
};
const WritingOp* operationOf(Writing writing);

/// By the op or its argument `reduce`; none where that is no known word.
std::optional<Writing> writingOf(const BoundArguments& bound);
/// Whether what is there counts among what is combined.
bool includesSelf(const BoundArguments& bound);
/// The dimension `dim` (argument 1) of self; none where it has no such.
std::optional<std::size_t> writtenDimension(const BoundArguments& bound);
/// Integers that count positions: neither bool nor uint8, which are masks.
bool isIndexType(DType dtype);
/// Of nothing, which no index is asked for, or of what only running tells to be something.
bool mayBeEmpty(const SymSizes& sizes);
/// What fills the result before it is written to.
int elementOfSelf(const ElementCall& c);
/// Of the scatter ops: one index after the other along their dimension.
extern const WriteLowering elementWrites;

}  // namespace kerf::inline ops
