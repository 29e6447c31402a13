// Whether an op's lowering fits one call, and what a generated kernel needs to know of the call's operands.
#pragma once

#include "engine/lower/value_table.h"

namespace kerf::inline lower {

/// The op's lowering; null when it has none of this kind, or does not cover the call's arguments or types.
const Lowering* fittingPointwise(const ValueInfo& info);
const Lowering* fittingElement(const ValueInfo& info);
const Lowering* fittingReduction(const ValueInfo& info);
const Lowering* fittingScan(const ValueInfo& info);
const Lowering* fittingWrites(const ValueInfo& info);
/// Whether an argument of an op that writes needs no memory.
bool isElementOfWrite(const ValueInfo& info, std::size_t argument);
/// The tensors that an element lowering reads, in order of the schema.
std::vector<NodeId> elementReads(const ValueInfo& info);
/// Of a lowering that reads its operands at affine places only, so that these need not be in memory.
bool readsAffinely(const ValueInfo& info);
/// Tensors that an element-wise value is computed from.
std::vector<NodeId> tensorOperands(const ValueInfo& info);
/// The type in which a pointwise op computes (float32 for half types).
DType computeTypeOf(const ValueInfo& info);
/// Type that operands are promoted to before: the result's, but for comparisons, whose result is bool.
DType operandDType(const ValueInfo& info);
/// Whether numbers enter a 16-bit computation as they are, not rounded to its dtype first.
bool takesNumbersExactly(const ValueInfo& info);
/// Schema positions of the element operands (tensors and numbers), in order.
std::vector<std::size_t> elementOperands(const ValueInfo& info);
/// The dimension of a scan.
Result<std::size_t> scannedDimension(const ValueInfo& info, std::size_t rank);
/// A scan along the last dimension, whose loop goes an element at a time.
bool scansRows(const ValueInfo& info);
/// Dimensions that a reduction removes.
Result<std::vector<bool>> reducedDimensions(const ValueInfo& info, std::size_t rank);
bool keepsDimensions(const ValueInfo& info);

}  // namespace kerf::inline lower
