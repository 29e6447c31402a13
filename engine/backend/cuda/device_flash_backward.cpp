#include <algorithm>

#include "engine/backend/cuda/device_flash.h"

namespace kerf::inline backend {
namespace {

/// Wider heads' gradients do not fit into registers beside scores; up to the second number two tiles of rows do.
constexpr std::int64_t widest = 128, mostTall = 64;

std::int64_t sharedBytes(const FlashForm& form) {
  const std::int64_t width = form.wholeWidth() + form.wholeValues() + 16;  // of a row of both factors
  return (64 * form.tall + 2 * form.keys) * width * 2;
}

/// Of the kernel whose blocks have these rows. One gradient leaves registers for 64 columns of scores beside two tiles
/// of rows, two gradients for 32.
FlashForm formFor(const DeviceCall& call, const AttentionHeads& h, std::int64_t heads, std::int64_t rows,
                  bool hasOneGradient) {
  FlashForm form = flashForm(h);
  const bool isWide = std::max(h.width, h.valueWidth) > mostTall;
  form.tall = 2;
  if (isWide || flashBlocks(form, heads, rows) < call.on.queue.driver().processors()) form.tall = 1;
  form.keys = isWide || (form.tall == 2 && !hasOneGradient) ? 32 : 64;
  return form;
}

/// Where a gradient goes; 0 where none is asked for.
Result<DeviceAddress> gradientPlace(const DeviceCall& call, std::size_t out, long long (&strides)[3]) {
  if (!call.hasOut(out)) return 0;
  takeStrides(call.out(out), strides);
  return call.on.addressOf(call.out(out), true);
}

}  // namespace

Result<bool> flashBackward(const DeviceCall& call, const AttentionHeads& h, const DeviceDropout& stream) {
  if (!takesFlash(call, h) || std::max(h.width, h.valueWidth) > widest || call.hasOut(3)) return false;
  for (std::size_t out = 0; out < 3; ++out)
    if (call.hasOut(out) && !isWritableInPairs(call.out(out))) return false;
  FlashArguments a = flashArguments(h);
  KERF_TRY(const DeviceAddress q, flashOperand(call, h.q, a.q));
  KERF_TRY(const DeviceAddress k, flashOperand(call, h.k, a.k));
  KERF_TRY(const DeviceAddress v, flashOperand(call, h.v, a.v));
  KERF_TRY(const DeviceAddress grad, flashOperand(call, call.args.tensor(0), a.grad));
  KERF_TRY(const DeviceAddress dq, gradientPlace(call, 0, a.dq));
  KERF_TRY(const DeviceAddress dk, gradientPlace(call, 1, a.dk));
  KERF_TRY(const DeviceAddress dv, gradientPlace(call, 2, a.dv));
  DeviceAddress mask = 0;
  if (h.mask != nullptr) {
    KERF_TRY(mask, call.on.addressOf(*h.mask));
  }
  KERF_TRY(const DeviceAddress stats, call.on.scratch.take(h.rows() * 3 * itemSize(DType::Float32)));
  const auto launch = [&](const char* name, KernelArguments& arguments, std::int64_t heads, std::int64_t rows,
                          bool hasOneGradient) {
    arguments.add(q).add(k).add(v).add(grad).add(mask).add(stream.seed).add(stream.offset).add(a);
    const FlashForm form = formFor(call, h, heads, rows, hasOneGradient);
    return call.on.library.launch(flashBackwardSource(), name, form.macros(), flashBlocks(form, heads, rows),
                                  flashThreads, arguments, int(sharedBytes(form)));
  };
  KernelArguments ofQueries, ofKeys;
  ofQueries.add(dq).add(stats);
  KERF_CHECK(launch("kerf_flash_queries", ofQueries, h.batch * h.heads, h.queries, true));
  if (dk == 0 && dv == 0) return true;
  ofKeys.add(dk).add(dv).add(stats);
  KERF_CHECK(launch("kerf_flash_keys", ofKeys, h.batch * h.heads / h.groups, h.keys, false));
  return true;
}

}  // namespace kerf::inline backend
