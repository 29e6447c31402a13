// Arguments in the memory of out=. The table was measured with PyTorch 2.11: each function with out= as the argument itself,
// a row, a column, its transpose and its tail, beside the result without out=.
#include <algorithm>

#include "engine/ops/core/op_call.h"
#include "engine/ops/core/shared_memory.h"
#include "engine/ops/core/strides.h"
#include "engine/ops/core/symbolic_checks.h"
#include "engine/ops/python/out_argument.h"

namespace kerf::inline ops {
namespace {

/// What PyTorch does where an argument lies in the memory of out=.
enum class SharedOut : std::uint8_t {
  Refused,            ///< wherever it lies
  RefusedInPart,      ///< but not where it is the elements that are written, in their order
  Overwritten,        ///< its kernels write before they read, and go on
  OverwrittenInPart,  ///< the same, but not where it is the elements that are written
};

struct OutMemoryRow {
  std::string_view name;  ///< last part of the function's name
  SharedOut rule;
  std::size_t first = 0, last = SIZE_MAX;  ///< which arguments
};

/// Element-wise functions are not here: they are RefusedInPart. What is in no row reads all before it writes.
constexpr OutMemoryRow outMemoryRows[] = {
    {"addbmm", SharedOut::RefusedInPart, 0, 0},
    {"addbmm", SharedOut::Overwritten, 1},
    {"addmm", SharedOut::RefusedInPart, 0, 0},
    {"addmm", SharedOut::Overwritten, 1},
    {"addmv", SharedOut::OverwrittenInPart, 0, 0},
    {"addmv", SharedOut::Overwritten, 1},
    {"amax", SharedOut::Overwritten},
    {"amin", SharedOut::Overwritten},
    {"baddbmm", SharedOut::RefusedInPart, 0, 0},
    {"baddbmm", SharedOut::Overwritten, 1},
    {"bmm", SharedOut::Overwritten},
    {"cat", SharedOut::Refused},
    {"column_stack", SharedOut::Refused},
    {"concat", SharedOut::Refused},
    {"concatenate", SharedOut::Refused},
    {"cross", SharedOut::RefusedInPart},
    {"cummax", SharedOut::OverwrittenInPart},
    {"cummin", SharedOut::OverwrittenInPart},
    {"cumprod", SharedOut::RefusedInPart},
    {"cumsum", SharedOut::RefusedInPart},
    {"dstack", SharedOut::Refused},
    {"gather", SharedOut::Refused},
    {"ger", SharedOut::RefusedInPart},
    {"histc", SharedOut::Overwritten},
    {"hstack", SharedOut::Refused},
    {"index_add", SharedOut::Refused, 1},
    {"index_copy", SharedOut::Refused, 1},
    {"index_reduce", SharedOut::Refused, 1},
    {"index_select", SharedOut::Refused},
    {"kron", SharedOut::OverwrittenInPart},
    {"kthvalue", SharedOut::Overwritten},
    {"log_softmax", SharedOut::OverwrittenInPart},
    {"logcumsumexp", SharedOut::RefusedInPart},
    {"masked_select", SharedOut::Refused},
    {"mean", SharedOut::Overwritten},
    {"median", SharedOut::Overwritten},
    {"mode", SharedOut::Overwritten},
    {"mv", SharedOut::Overwritten},
    {"nanmean", SharedOut::Overwritten},
    {"nanmedian", SharedOut::Overwritten},
    {"nansum", SharedOut::Overwritten},
    {"narrow_copy", SharedOut::Overwritten},
    {"norm", SharedOut::Overwritten},
    {"outer", SharedOut::RefusedInPart},
    {"prod", SharedOut::Overwritten},
    {"renorm", SharedOut::RefusedInPart},
    {"row_stack", SharedOut::Refused},
    {"scatter", SharedOut::Refused, 1},
    {"scatter_add", SharedOut::Refused, 1},
    {"scatter_reduce", SharedOut::Refused, 1},
    {"softmax", SharedOut::OverwrittenInPart},
    {"sort", SharedOut::RefusedInPart},
    {"stack", SharedOut::Refused},
    {"std", SharedOut::Overwritten},
    {"sum", SharedOut::Overwritten},
    {"take", SharedOut::Refused},
    {"take_along_dim", SharedOut::Refused},
    {"topk", SharedOut::Overwritten},
    {"tril", SharedOut::OverwrittenInPart},
    {"triu", SharedOut::OverwrittenInPart},
    {"var", SharedOut::Overwritten},
    {"vector_norm", SharedOut::Overwritten},
    {"vstack", SharedOut::Refused},
};

/// Functions of one dimension, which write the smallest and the largest number of each row.
constexpr std::string_view extremesOfRows[] = {"max", "min"};

std::string_view lastOf(std::string_view name) { return name.substr(name.rfind('.') + 1); }

/// Matrix times vector goes another way than matrix times matrix.
bool hasVector(const OutCall& call) {
  return std::ranges::any_of(call.inputs,
                             [](const Value& value) { return value.isTensor() && value.tensor().dim() == 1; });
}

bool isPointwiseName(std::string_view name) {
  for (const std::string_view overload : {"default", "Tensor", "self"}) {
    const OpInfo* op = findOp(OpTarget(fmt::format("aten.{}.{}", name, overload)));
    if (op != nullptr && has(op->traits, OpTrait::Pointwise)) return true;
  }
  return false;
}

bool isElementWise(const OutCall& call) {
  return call.op != nullptr ? has(call.op->traits, OpTrait::Pointwise) : isPointwiseName(lastOf(call.name));
}

bool hasSizesOf(const Tensor& out, const Tensor& made) {
  return out.dim() == made.dim() && checkEqual(made.symSizes(), out.symSizes());
}

/// out= as it is when it is written: with the sizes of the result.
Tensor resized(const Tensor& out, const Tensor& made) {
  if (hasSizesOf(out, made)) return out;
  return out.viewAs(made.symSizes(), contiguousStrides(made.symSizes()), out.symOffset());
}

/// visit(tensor) for the arguments from `first` to `last` that look at the memory of `out`.
template <class Visit>
Result<void> forSharing(const Value& value, const Tensor& out, const OpCaller& ops, const Visit& visit) {
  if (value.isTensor()) return shareMemory(value.tensor(), out, ops) ? visit(value.tensor()) : Result<void>();
  if (!value.isList()) return {};
  for (const Value& item : value.list()) KERF_CHECK(forSharing(item, out, ops, visit));
  return {};
}

template <class Visit>
Result<void> forSharing(const OutCall& call, const OutMemoryRow& row, const Tensor& out, const OpCaller& ops,
                        const Visit& visit) {
  for (std::size_t i = row.first; i < call.inputs.size() && i <= row.last; ++i)
    KERF_CHECK(forSharing(call.inputs[i], out, ops, visit));
  return {};
}

std::unexpected<Error> readWhileWritten(const OutCall& call) {
  return fail(ErrorCode::ShapeMismatch,
              "{}: out= is an argument, too, which is read while it is written; clone it first", call.name);
}

std::unexpected<Error> writtenBefore(const OutCall& call) {  // PyTorch runs it, and gives what is left
  return fail(ErrorCode::UnsupportedOp,
              "{}: out= is an argument, too, which is written before it is read; clone it first", call.name);
}

bool isRefused(Overlap overlap, SharedOut rule) {
  return overlap == Overlap::Partial || (overlap == Overlap::Full && rule == SharedOut::Refused);
}

/// `before` and `after`: out= before and after it got the sizes of the result.
Result<void> checkByRow(const OutCall& call, const OutMemoryRow& row, const Tensor& before, const Tensor& after,
                        const OpCaller& ops) {
  const bool isResized = !hasSizesOf(before, after);
  return forSharing(call, row, before, ops, [&](const Tensor& tensor) -> Result<void> {
    const Overlap overlap = overlapOf(tensor, after);
    const bool isSame = overlapOf(tensor, before) == Overlap::Full;
    if (row.rule == SharedOut::Refused || row.rule == SharedOut::RefusedInPart) {
      if (isRefused(isSame ? Overlap::Full : overlap, row.rule)) return readWhileWritten(call);
      return isSame && isResized ? Result<void>(writtenBefore(call)) : Result<void>();
    }
    const bool isWhole = row.rule == SharedOut::OverwrittenInPart && overlap == Overlap::Full;
    if (!isWhole && (mayMeet(tensor, after) || mayMeet(tensor, before))) return writtenBefore(call);
    return {};
  });
}

/// Element-wise functions look before they give out= its sizes, which they never do where it is an argument.
Result<void> checkElementWise(const OutCall& call, const Tensor& made, const Tensor& out, const OpCaller& ops) {
  return forSharing(call, {{}, SharedOut::RefusedInPart}, out, ops, [&](const Tensor& tensor) -> Result<void> {
    const Overlap overlap = overlapOf(tensor, out);
    if (overlap == Overlap::Partial) return readWhileWritten(call);
    if (overlap != Overlap::Full || hasSizesOf(out, made)) return {};
    return fail(ErrorCode::ShapeMismatch,
                "{}: out= is an argument of the shape [{}], which does not fit the result's [{}]", call.name,
                fmt::join(out.symSizes(), ", "), fmt::join(made.symSizes(), ", "));
  });
}

}  // namespace

Result<void> checkOutMemory(const OutCall& call, const Tensor& made, const Tensor& out, const OpCaller& ops) {
  return withoutThrowing([&]() -> Result<void> {
    const std::string_view name = lastOf(call.name);
    if (isElementWise(call)) KERF_CHECK(checkElementWise(call, made, out, ops));
    const Tensor after = resized(out, made);
    for (const OutMemoryRow& row : outMemoryRows)
      if (row.name == name) KERF_CHECK(checkByRow(call, row, out, after, ops));
    const bool isExtreme = std::ranges::find(extremesOfRows, name) != std::end(extremesOfRows);
    if (isExtreme && call.op != nullptr && call.op->schema.returns.size() > 1)
      return checkByRow(call, {name, SharedOut::Overwritten}, out, after, ops);
    if (name == "matmul" && hasVector(call)) return checkByRow(call, {name, SharedOut::Overwritten}, out, after, ops);
    return {};
  });
}

}  // namespace kerf::inline ops
