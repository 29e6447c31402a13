#include "engine/backend/cuda/device_flash.h"

#include <algorithm>
#include <charconv>

#include "engine/codegen_cuda/scalar_text.h"

namespace kerf::inline backend {
namespace {

constexpr int firstArchitecture = 80;  ///< with products of 16-bit squares of 16 x 16, and copies into shared memory
constexpr int pack = 8;                ///< elements of 16 bytes
constexpr std::int64_t mostWidth = 256, mostTall = 128,
                       mostKept = 64;  ///< of heads; of those that two tiles of rows and that queries are kept of
/// A block has whole rows: of few queries over many keys, products in memory divide the keys among processors.
constexpr std::int64_t fewQueries = 16, manyKeys = 2048;

/// "sm_90"; what runs on the host has no name.
bool hasTensorCores(const std::string& architecture) {
  if (architecture.empty()) return true;
  int number = 0;
  std::from_chars(architecture.data() + std::min<std::size_t>(3, architecture.size()),
                  architecture.data() + architecture.size(), number);
  return number >= firstArchitecture;
}

bool liesInPacks(const Tensor& t, DeviceAddress address) {
  if (address % (pack * 2) != 0 || (t.size(3) != 1 && t.strides()[3] != 1)) return false;
  for (int d = 0; d < 3; ++d)
    if (t.size(d) != 1 && t.strides()[std::size_t(d)] % pack != 0) return false;
  return true;
}

std::int64_t sharedBytes(const FlashForm& form) {
  const std::int64_t width = form.wholeWidth() + pack, values = form.wholeValues() + pack;
  return (64 * form.tall * width + form.keys * (width + values)) * 2;
}

}  // namespace

void takeStrides(const Tensor& t, long long (&strides)[3]) {
  for (int d = 0; d < 3; ++d) strides[d] = t.size(d) == 1 ? 0 : t.strides()[std::size_t(d)];
}

bool isWritableInPairs(const Tensor& out) {
  if (out.size(3) != 1 && out.strides()[3] != 1) return false;
  if (out.offset() % 2 != 0) return false;
  for (int d = 0; d < 3; ++d)
    if (out.size(d) != 1 && out.strides()[std::size_t(d)] % 2 != 0) return false;
  return true;
}

KernelMacros FlashForm::macros() const {
  const bool isBool = mask == DType::Bool;
  const auto flag = [](bool is) { return std::string(is ? "1" : "0"); };
  return {{"M", std::string(memoryType(mask))},
          {"MASK_IS_BOOL", flag(isBool)},
          {"FROM_MASK(x)", isBool ? "0" : convertText("(x)", mask, DType::Float32)},
          {"KERF_INFINITY", "__int_as_float(0x7f800000)"},
          {"IS_BF16", flag(dtype == DType::BFloat16)},
          {"WIDTH", std::to_string(wholeWidth())},
          {"VALUES", std::to_string(wholeValues())},
          {"KEYS", std::to_string(keys)},
          {"TALL", std::to_string(tall)},
          {"KEEPS_QUERIES", flag(keepsQueries)},
          {"CAUSAL", flag(causal)},
          {"HAS_MASK", flag(hasMask)},
          {"DROPS", flag(drops)}};
}

bool takesFlash(const DeviceCall& call, const AttentionHeads& h) {
  if (!call.on.fusesAttention || !hasTensorCores(call.on.queue.driver().architecture())) return false;
  if (h.dtype != DType::BFloat16 && h.dtype != DType::Float16) return false;
  if (h.width % pack != 0 || h.valueWidth % pack != 0 || std::max(h.width, h.valueWidth) > mostWidth) return false;
  if (!(h.scale > 0) || (h.mask != nullptr && h.mask->dim() > 4)) return false;
  constexpr std::int64_t most = std::int64_t{1} << 30;
  return h.queries < most && h.keys < most && (h.queries >= fewQueries || h.keys <= manyKeys);
}

FlashForm flashForm(const AttentionHeads& h) {
  const auto causal = argumentNamed(h.args, "is_causal");
  return {.dtype = h.dtype,
          .mask = h.mask != nullptr ? h.mask->dtype() : h.dtype,
          .width = h.width,
          .values = h.valueWidth,
          .causal = causal && h.args.boolean(*causal),
          .hasMask = h.mask != nullptr,
          .drops = h.dropout != 0};
}

FlashArguments flashArguments(const AttentionHeads& h) {
  const AttentionRows rows = attentionRows(h, {});
  FlashArguments a;
  a.queries = int(h.queries), a.keys = int(h.keys), a.heads = int(h.heads), a.groups = int(h.groups);
  a.width = int(h.width), a.values = int(h.valueWidth), a.shift = int(rows.shift),
  a.emptyIsPlus = isFlash(h.args) ? 1 : 0;
  a.scale = float(h.scale), a.keep = float(rows.keep), a.factor = float(rows.factor);
  std::ranges::copy(rows.mask, a.mask);
  return a;
}

std::int64_t flashBlocks(const FlashForm& form, std::int64_t heads, std::int64_t rows) {
  const std::int64_t each = 64 * form.tall;
  return heads * ((rows + each - 1) / each);
}

Result<DeviceAddress> flashOperand(const DeviceCall& call, const Tensor& tensor, long long (&strides)[3]) {
  KERF_TRY(const DeviceAddress own, call.on.addressOf(tensor));
  takeStrides(tensor, strides);
  if (liesInPacks(tensor, own)) return own;
  const Sizes dense = contiguousStrides(tensor.sizes());
  std::copy_n(dense.begin(), 3, strides);
  KERF_TRY(const DeviceAddress copy, call.on.scratch.take(tensor.byteSize()));
  KERF_CHECK(call.on.library.copy(tensor.sizes(), copy, dense, own, tensor.strides(), itemSize(tensor.dtype())));
  return copy;
}

Result<bool> flashForward(const DeviceCall& call, const AttentionHeads& h, const Tensor* sums,
                          const DeviceDropout& stream) {
  const Tensor& result = call.out(0);
  if (!takesFlash(call, h) || !isWritableInPairs(result)) return false;
  FlashForm form = flashForm(h);
  const std::int64_t heads = h.batch * h.heads;
  const std::int64_t width = std::max(h.width, h.valueWidth);
  if (width > mostKept) form.keys = 32;  // registers hold no more
  form.tall = 2;
  if (width > mostTall || flashBlocks(form, heads, h.queries) < call.on.queue.driver().processors()) form.tall = 1;
  form.keepsQueries = form.tall == 2 && width <= mostKept;
  FlashArguments a = flashArguments(h);
  KERF_TRY(const DeviceAddress q, flashOperand(call, h.q, a.q));
  KERF_TRY(const DeviceAddress k, flashOperand(call, h.k, a.k));
  KERF_TRY(const DeviceAddress v, flashOperand(call, h.v, a.v));
  KERF_TRY(const DeviceAddress out, call.on.addressOf(result, true));
  takeStrides(result, a.out);
  DeviceAddress sumsAt = 0, maskAt = 0;
  if (sums != nullptr) {
    KERF_TRY(sumsAt, call.on.addressOf(*sums, true));
    for (std::size_t d = 0; d < 3; ++d) a.sums[d] = sums->strides()[d];
  }
  if (h.mask != nullptr) {
    KERF_TRY(maskAt, call.on.addressOf(*h.mask));
  }
  KernelArguments arguments;
  arguments.add(out).add(sumsAt).add(q).add(k).add(v).add(maskAt).add(stream.seed).add(stream.offset).add(a);
  KERF_CHECK(call.on.library.launch(flashForwardSource(), "kerf_flash", form.macros(),
                                    flashBlocks(form, heads, h.queries), flashThreads, arguments,
                                    int(sharedBytes(form))));
  return true;
}

std::vector<LibraryKernel> flashKernels() {
  std::vector<LibraryKernel> all;
  const auto add = [&](const FlashForm& form) { all.push_back({flashForwardSource(), "kerf_flash", form.macros()}); };
  add({});
  for (const DType dtype : {DType::BFloat16, DType::Float16}) {
    add({.dtype = dtype, .mask = dtype, .width = 128, .values = 128, .tall = 2, .keys = 32, .causal = true});
    add({.dtype = dtype,
         .mask = dtype,
         .width = 64,
         .values = 64,
         .tall = 2,
         .keepsQueries = true,
         .causal = true,
         .hasMask = true,
         .drops = true});
    add({.dtype = dtype, .mask = DType::Bool, .width = 72, .values = 256, .keys = 32, .hasMask = true});
    for (const char* name : {"kerf_flash_queries", "kerf_flash_keys"}) {
      const auto addBack = [&](const FlashForm& form) { all.push_back({flashBackwardSource(), name, form.macros()}); };
      addBack({.dtype = dtype, .mask = dtype, .tall = 2, .keys = 32, .causal = true, .hasMask = true, .drops = true});
      addBack({.dtype = dtype, .mask = DType::Bool, .width = 128, .values = 72, .keys = 32, .hasMask = true});
    }
  }
  return all;
}

}  // namespace kerf::inline backend
