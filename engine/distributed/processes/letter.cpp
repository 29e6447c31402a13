#include "engine/distributed/processes/letter.h"

#include <cstring>
#include <optional>

namespace kerf::inline distributed::inline processes {
namespace {

std::unexpected<Error> damagedLetter() { return fail(ErrorCode::RuntimeFailed, "a message between ranks is damaged"); }

/// Takes numbers and texts off the front of bytes.
class LetterReader {
 public:
  explicit LetterReader(std::span<const char> bytes) : m_left(bytes) {}

  std::optional<std::int64_t> number() {
    std::int64_t value = 0;
    if (m_left.size() < sizeof value) return std::nullopt;
    std::memcpy(&value, m_left.data(), sizeof value);
    m_left = m_left.subspan(sizeof value);
    return value;
  }
  std::optional<std::string> text() {
    const auto length = number();
    if (!length || *length < 0 || std::uint64_t(*length) > m_left.size()) return std::nullopt;
    std::string value(m_left.data(), std::size_t(*length));
    m_left = m_left.subspan(std::size_t(*length));
    return value;
  }
  std::span<const char> left() const { return m_left; }

 private:
  std::span<const char> m_left;
};

class LetterWriter {
 public:
  explicit LetterWriter(std::vector<char>& bytes) : m_bytes(bytes) {}

  void number(std::int64_t value) { raw(reinterpret_cast<const char*>(&value), sizeof value); }
  void text(const std::string& value) {
    number(std::int64_t(value.size()));
    raw(value.data(), value.size());
  }
  void raw(const char* data, std::size_t size) {
    if (size > 0) m_bytes.insert(m_bytes.end(), data, data + size);
  }

 private:
  std::vector<char>& m_bytes;
};

constexpr std::int64_t mostLetterDims = 64;

/// Of a contiguous tensor, which may start within its storage.
const char* firstElement(const Tensor& tensor) {
  return reinterpret_cast<const char*>(tensor.storage()->data()) + tensor.offset() * itemSize(tensor.dtype());
}

}  // namespace

std::vector<char> packedLetter(const RankLetter& letter) {
  std::vector<char> bytes;
  const auto elements = std::size_t(letter.tensor.byteSize());
  bytes.reserve(elements + letter.group.size() + letter.text.size() + 256);
  LetterWriter writer(bytes);
  writer.number(letter.number);
  writer.text(letter.group);
  writer.text(letter.text);
  writer.number(std::int64_t(letter.tensor.dtype()));
  writer.number(letter.tensor.dim());
  for (const std::int64_t size : letter.tensor.sizes()) writer.number(size);
  if (elements > 0) writer.raw(firstElement(letter.tensor), elements);
  return bytes;
}

Result<RankLetter> unpackedLetter(std::span<const char> bytes) {
  LetterReader reader(bytes);
  const auto number = reader.number();
  auto group = reader.text();
  auto text = reader.text();
  const auto dtype = reader.number(), dims = reader.number();
  if (!number || !group || !text || !dtype || !dims || *dims < 0 || *dims > mostLetterDims) return damagedLetter();
  if (*dtype < 0 || *dtype > std::int64_t(lastOf(DType()))) return damagedLetter();
  Sizes sizes;
  for (std::int64_t d = 0; d < *dims; ++d) {
    const auto size = reader.number();
    if (!size || *size < 0) return damagedLetter();
    sizes.push_back(*size);
  }
  const auto numel = checkedNumel(sizes);
  const std::span<const char> elements = reader.left();
  const auto each = std::int64_t(itemSize(DType(*dtype)));
  // Before memory is asked for: as many elements as there are bytes of.
  if (!numel || *numel > std::int64_t(elements.size()) || *numel * each != std::int64_t(elements.size()))
    return damagedLetter();
  RankLetter letter{*number, std::move(*group), std::move(*text), {}};
  KERF_TRY(letter.tensor, Tensor::zeros(DType(*dtype), sizes));
  if (!elements.empty()) std::memcpy(letter.tensor.data<char>(), elements.data(), elements.size());
  return letter;
}

}  // namespace kerf::inline distributed::inline processes
