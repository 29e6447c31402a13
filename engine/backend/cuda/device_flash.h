// Attention as one kernel that keeps scores in registers: what it takes, and its sources.
#pragma once

#include <string>
#include <string_view>

#include "engine/backend/cuda/device_attention.h"

namespace kerf::inline backend {

constexpr int flashThreads = 128;  ///< of a block

/// A kernel's arguments but for addresses (KerfFlash of its source).
struct FlashArguments {
  long long q[3] = {}, k[3] = {}, v[3] = {}, out[3] = {}, grad[3] = {}, dq[3] = {}, dk[3] = {}, dv[3] = {},
            sums[3] = {}, mask[4] = {};
  int queries = 0, keys = 0, heads = 0, groups = 1, width = 0, values = 0, shift = 0, emptyIsPlus = 0;
  float scale = 1, keep = 0, factor = 1, padding = 0;
};

/// What a kernel is compiled for.
struct FlashForm {
  DType dtype = DType::BFloat16, mask = DType::BFloat16;
  std::int64_t width = 64, values = 64;  ///< of heads
  int tall = 1;               ///< tiles of 64 queries of a block, or of 64 keys where it gathers their gradients
  int keys = 64;              ///< of a tile, or queries
  bool keepsQueries = false;  ///< in registers
  bool causal = false, hasMask = false, drops = false;
  /// Of heads, as the kernel has them: whole squares of 16.
  std::int64_t wholeWidth() const { return (width + 15) / 16 * 16; }
  std::int64_t wholeValues() const { return (values + 15) / 16 * 16; }
  KernelMacros macros() const;
};

/// Whether the kernels take this: 16-bit heads of up to 256 in packs of 16 bytes, a positive scale, on a device of
/// sm_80 or newer.
bool takesFlash(const DeviceCall& call, const AttentionHeads& h);
FlashForm flashForm(const AttentionHeads& h);
/// Blocks of rows of which each of `heads` has so many.
std::int64_t flashBlocks(const FlashForm& form, std::int64_t heads, std::int64_t rows);
FlashArguments flashArguments(const AttentionHeads& h);
/// Whether pairs of a result's elements are written at once.
bool isWritableInPairs(const Tensor& out);
/// The first three strides; 0 along dimensions of one place.
void takeStrides(const Tensor& t, long long (&strides)[3]);
/// A tensor as packs of 16 bytes can be read: itself or a dense copy; its first three strides.
Result<DeviceAddress> flashOperand(const DeviceCall& call, const Tensor& tensor, long long (&strides)[3]);

/// Output and, where `sums` is not null, logarithms of the softmax's sums. False where the kernel does not take it.
Result<bool> flashForward(const DeviceCall& call, const AttentionHeads& h, const Tensor* sums,
                          const DeviceDropout& stream);

/// Gradients of query, key and value. False where the kernels do not take it.
Result<bool> flashBackward(const DeviceCall& call, const AttentionHeads& h, const DeviceDropout& stream);

/// Helpers for tensor cores: KerfShared, tiles of 16-bit elements in shared memory, products of a warp.
std::string_view tensorCoreSource();
std::string_view flashCommonSource();
std::string_view flashForwardSource();
std::string_view flashBackwardSource();

}  // namespace kerf::inline backend
