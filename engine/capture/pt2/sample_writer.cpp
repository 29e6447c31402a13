#include "engine/capture/pt2/sample_writer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "engine/support/hash.h"
#include "engine/tensor/zip_writer.h"

namespace kerf::inline capture::pt2 {
namespace {

using namespace std::string_literals;

struct StorageClass {
  DType dtype;
  std::string_view name;
};
constexpr auto storageClasses = std::to_array<StorageClass>({{DType::Float64, "DoubleStorage"},
                                                             {DType::Float32, "FloatStorage"},
                                                             {DType::Float16, "HalfStorage"},
                                                             {DType::BFloat16, "BFloat16Storage"},
                                                             {DType::Int64, "LongStorage"},
                                                             {DType::Int32, "IntStorage"},
                                                             {DType::Int16, "ShortStorage"},
                                                             {DType::Int8, "CharStorage"},
                                                             {DType::UInt8, "ByteStorage"},
                                                             {DType::Bool, "BoolStorage"},
                                                             {DType::Complex64, "ComplexFloatStorage"},
                                                             {DType::Complex128, "ComplexDoubleStorage"}});

void append(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += char((value >> (8 * i)) & 0xff);
}

/// Writes pickle protocol 2: the few opcodes that tensors in a tuple need.
class PickleWriter {
 public:
  PickleWriter() { m_out = "\x80\x02"; }

  Result<void> add(const Value& value) {
    if (value.isTensor()) return tensor(value.tensor());
    if (value.isNone()) return opcode('N');
    if (const auto* flag = value.as<bool>()) return opcode(*flag ? '\x88' : '\x89');
    if (const auto* number = value.as<std::int64_t>()) return integer(*number);
    if (const auto* number = value.as<double>()) return real(*number);
    if (const auto* string = value.as<std::string>()) return text(*string);
    return fail(ErrorCode::BadInput, "an input is of a kind that cannot be saved");
  }
  Result<void> opcode(char code) {
    m_out += code;
    return {};
  }
  std::string take() { return std::move(m_out); }
  const std::vector<StoragePtr>& storages() const { return m_storages; }

 private:
  Result<void> integer(std::int64_t value) {
    if (value >= INT32_MIN && value <= INT32_MAX) {
      m_out += 'J';
      append(m_out, std::uint32_t(value), 4);
    } else {
      m_out += "\x8a\x08";
      append(m_out, std::uint64_t(value), 8);
    }
    return {};
  }

  Result<void> real(double value) {
    m_out += 'G';
    const auto bits = std::bit_cast<std::uint64_t>(value);
    for (int shift = 56; shift >= 0; shift -= 8) m_out += char((bits >> shift) & 0xff);
    return {};
  }

  Result<void> text(std::string_view value) {
    m_out += 'X';
    append(m_out, value.size(), 4);
    m_out += value;
    return {};
  }

  void name(std::string_view module, std::string_view attribute) {
    m_out += fmt::format("c{}\n{}\n", module, attribute);
  }

  void sizes(const Sizes& values) {
    m_out += '(';
    for (const std::int64_t value : values) (void)integer(value);
    m_out += 't';
  }

  std::size_t storageIndex(const StoragePtr& storage) {
    const auto found = std::ranges::find(m_storages, storage);
    if (found != m_storages.end()) return std::size_t(found - m_storages.begin());
    m_storages.push_back(storage);
    return m_storages.size() - 1;
  }

  /// torch._utils._rebuild_tensor_v2, or _v3 with the dtype where no typed storage exists.
  Result<void> tensor(const Tensor& value) {
    const auto type = std::ranges::find(storageClasses, value.dtype(), &StorageClass::dtype);
    const bool typed = type != storageClasses.end();
    name("torch._utils", typed ? "_rebuild_tensor_v2" : "_rebuild_tensor_v3");
    m_out += "((";
    (void)text("storage");
    name(typed ? "torch" : "torch.storage", typed ? type->name : "UntypedStorage");
    (void)text(std::to_string(storageIndex(value.storage())));
    (void)text("cpu");
    (void)integer(value.storage()->bytes() / (typed ? itemSize(value.dtype()) : 1));
    m_out += "tQ";
    (void)integer(value.offset());
    sizes(value.sizes());
    sizes(value.strides());
    (void)opcode(value.requiresGrad ? '\x88' : '\x89');
    name("collections", "OrderedDict");
    m_out += ")R";
    if (!typed) name("torch", dtypeInfo(value.dtype()).torchName.substr(std::string_view("torch.").size()));
    m_out += "tR";
    return {};
  }

  std::string m_out;
  std::vector<StoragePtr> m_storages;
};

}  // namespace

Result<std::string> sampleInputsFile(const ValueList& args) {
  PickleWriter pickle;
  (void)pickle.opcode('(');
  for (const Value& value : args) KERF_CHECK(pickle.add(value));
  const std::string end = "t}\x86.";
  std::string data = pickle.take() + end;
  std::string file;
  ZipWriter zip([&](std::span<const std::byte> bytes) -> Result<void> {
    file.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return {};
  });
  const Hash128 id = hashText(data);
  KERF_CHECK(zip.add("archive/data.pkl", std::string_view(data)));
  KERF_CHECK(zip.add("archive/.format_version", std::string_view("1")));
  KERF_CHECK(zip.add("archive/.storage_alignment", std::string_view("64")));
  KERF_CHECK(zip.add("archive/byteorder", std::string_view("little")));
  for (std::size_t i = 0; i < pickle.storages().size(); ++i)
    KERF_CHECK(zip.add(fmt::format("archive/data/{}", i), pickle.storages()[i]->view()));
  KERF_CHECK(zip.add("archive/version", std::string_view("3\n")));
  KERF_CHECK(zip.add("archive/.data/serialization_id", std::string_view(fmt::format("{:020}{:020}", id.high, id.low))));
  KERF_CHECK(zip.finish());
  return file;
}

}  // namespace kerf::inline capture::pt2
