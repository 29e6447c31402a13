#include "engine/tensor/safetensors.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <unordered_set>

#include <nlohmann/json.hpp>

#include "engine/tensor/mapped_file.h"
#include "engine/tensor/safetensors_header.h"

namespace kerf::inline tensor {
namespace {

constexpr std::int64_t prefixBytes = 8;
constexpr std::int64_t maximumHeader = 100'000'000;  // the limit of the reference implementation

std::int64_t readLength(const std::byte* data) {
  std::uint64_t length = 0;
  for (int i = 7; i >= 0; --i) length = (length << 8) | std::to_integer<std::uint64_t>(data[i]);
  return length > std::uint64_t(maximumHeader) ? -1 : std::int64_t(length);
}

Result<void> checkEntry(const SafetensorsEntry& entry, std::int64_t dataBytes) {
  KERF_TRY(const std::int64_t numel, checkedNumel(entry.sizes));
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(numel, itemSize(entry.dtype), &bytes))
    return fail(ErrorCode::TooLarge, "tensor '{}' is larger than 2^63 bytes", entry.name);
  if (entry.begin < 0 || entry.begin > entry.end || entry.end > dataBytes)
    return fail(ErrorCode::BadInput, "tensor '{}' claims bytes [{}, {}) of {}", entry.name, entry.begin, entry.end,
                dataBytes);
  if (entry.end - entry.begin != bytes)
    return fail(ErrorCode::BadInput, "tensor '{}' of shape [{}] and dtype {} needs {} bytes but claims {}", entry.name,
                fmt::join(entry.sizes, ", "), dtypeInfo(entry.dtype).torchName, bytes, entry.end - entry.begin);
  return {};
}

// Tensors must tile the data section exactly: no overlap, no hole, nothing behind the last one.
Result<void> checkTiling(const std::vector<SafetensorsEntry>& entries, std::int64_t dataBytes) {
  std::vector<const SafetensorsEntry*> sorted;
  for (const auto& entry : entries) sorted.push_back(&entry);
  std::ranges::sort(sorted, {}, [](const auto* entry) { return std::pair(entry->begin, entry->end); });
  std::int64_t at = 0;
  for (const auto* entry : sorted) {
    if (entry->begin != at)
      return fail(ErrorCode::BadInput, "tensor '{}' starts at byte {} but the one before ends at {}", entry->name,
                  entry->begin, at);
    at = entry->end;
  }
  if (at == dataBytes) return {};
  return fail(ErrorCode::BadInput, "the header describes {} bytes of data but the file holds {}", at, dataBytes);
}

/// Bytes that are neither 0 nor 1 are true to PyTorch; a C++ bool must not be made of them.
bool needsBools(const SafetensorsEntry& entry, std::span<const std::byte> bytes) {
  return entry.dtype == DType::Bool && std::ranges::any_of(bytes, [](std::byte byte) { return byte > std::byte{1}; });
}

// Borrows from the mapping where the address fits the element type, else copies.
Result<Tensor> makeTensor(const SafetensorsEntry& entry, std::byte* data, const StoragePtr& mapping) {
  const std::int64_t bytes = entry.end - entry.begin;
  std::byte* start = data + entry.begin;
  StoragePtr storage;
  const std::span<const std::byte> there(start, std::size_t(bytes));
  const bool odd = needsBools(entry, there);
  if (!odd && reinterpret_cast<std::uintptr_t>(start) % std::size_t(itemSize(entry.dtype)) == 0) {
    storage = Storage::borrow(start, bytes, mapping);
  } else {
    KERF_TRY(storage, Storage::allocate(bytes));
    std::ranges::transform(there, storage->data(),
                           [odd](std::byte b) { return odd ? std::byte{b != std::byte{}} : b; });
  }
  return Tensor(std::move(storage), entry.dtype, entry.sizes, contiguousStrides(entry.sizes));
}

Result<SafetensorsFile> parse(const StoragePtr& mapping) {
  if (mapping->bytes() < prefixBytes)
    return fail(ErrorCode::BadInput, "{} bytes are too few for a safetensors file", mapping->bytes());
  const std::int64_t length = readLength(mapping->data());
  if (length < 0 || length > mapping->bytes() - prefixBytes)
    return fail(ErrorCode::BadInput, "the header length in the first 8 bytes is beyond the file or over {} bytes",
                maximumHeader);
  const auto* text = reinterpret_cast<const char*>(mapping->data()) + prefixBytes;
  KERF_TRY(auto header, parseSafetensorsHeader({text, std::size_t(length)}));
  const std::int64_t dataBytes = mapping->bytes() - prefixBytes - length;
  for (const auto& entry : header.entries) KERF_CHECK(checkEntry(entry, dataBytes));
  KERF_CHECK(checkTiling(header.entries, dataBytes));
  SafetensorsFile file;
  file.metadata = std::move(header.metadata);
  for (auto& entry : header.entries) {
    KERF_TRY(Tensor tensor, makeTensor(entry, mapping->data() + prefixBytes + length, mapping));
    file.tensors.emplace_back(std::move(entry.name), std::move(tensor));
  }
  return file;
}

/// Tensors in an order that keeps each aligned in the file: wide elements first.
std::vector<std::size_t> dataOrder(const SafetensorsFile& file) {
  std::vector<std::size_t> order(file.tensors.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(-itemSize(file.tensors[i].second.dtype()), i); });
  return order;
}

/// As JSON; bytes that are no UTF-8 become U+FFFD.
std::string jsonText(const nlohmann::ordered_json& value) {
  return value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

Result<std::string> writeHeader(const SafetensorsFile& file) {
  std::vector<std::int64_t> begins(file.tensors.size());
  std::int64_t at = 0;
  for (const std::size_t i : dataOrder(file)) {
    begins[i] = at;
    at += file.tensors[i].second.byteSize();
  }
  nlohmann::ordered_json metadata;
  for (const auto& [key, value] : file.metadata) metadata[key] = value;
  std::string text = "{";
  if (!file.metadata.empty()) text += "\"__metadata__\":" + jsonText(metadata) + ",";
  std::unordered_set<std::string> names;  // as written: two names may differ in bytes that are no UTF-8
  for (std::size_t i = 0; i < file.tensors.size(); ++i) {
    const auto& [name, tensor] = file.tensors[i];
    const auto dtype = dtypeInfo(tensor.dtype()).safetensorsName;
    if (dtype.empty())
      return fail(ErrorCode::BadInput, "safetensors has no dtype for {}", dtypeInfo(tensor.dtype()).torchName);
    const std::string key = jsonText(name);
    if (!names.insert(key).second || name == "__metadata__")
      return fail(ErrorCode::BadInput, "two tensors are called '{}'", name);
    text += fmt::format("{}:{{\"dtype\":\"{}\",\"shape\":[{}],\"data_offsets\":[{},{}]}},", key, dtype,
                        fmt::join(tensor.sizes(), ","), begins[i], begins[i] + tensor.byteSize());
  }
  if (text.back() == ',') text.pop_back();
  text += "}";
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

}  // namespace

const Tensor* SafetensorsFile::find(std::string_view name) const {
  const auto found = std::ranges::find(tensors, name, &std::pair<std::string, Tensor>::first);
  return found == tensors.end() ? nullptr : &found->second;
}

Result<SafetensorsFile> readSafetensors(const std::filesystem::path& path) {
  KERF_TRY(const StoragePtr mapping, mapFile(path));
  auto file = parse(mapping);
  if (!file) file.error().atFile(path.string());
  KERF_CHECK(checkWhole(*mapping, path));
  return file;
}

Result<void> writeSafetensors(AtomicFile& to, const SafetensorsFile& file) {
  KERF_TRY(const std::string header, writeHeader(file));
  std::array<std::byte, prefixBytes> prefix{};
  for (std::size_t i = 0; i < prefix.size(); ++i) prefix[i] = static_cast<std::byte>(header.size() >> (8 * i));
  KERF_CHECK(to.write(prefix));
  KERF_CHECK(to.write(std::as_bytes(std::span(header))));
  for (const std::size_t i : dataOrder(file)) {
    KERF_TRY(const Tensor dense, file.tensors[i].second.contiguous());
    const std::byte* const first = dense.storage()->data() + dense.offset() * itemSize(dense.dtype());
    KERF_CHECK(to.write({first, std::size_t(dense.byteSize())}));
  }
  return {};
}

Result<void> writeSafetensors(const std::filesystem::path& path, const SafetensorsFile& file) {
  KERF_TRY(AtomicFile to, AtomicFile::create(path));
  KERF_CHECK(writeSafetensors(to, file));
  return to.commit();
}

}  // namespace kerf::inline tensor
