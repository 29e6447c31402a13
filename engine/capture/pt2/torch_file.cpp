#include "engine/capture/pt2/torch_file.h"

#include "engine/tensor/tensor.h"

namespace kerf::inline capture::pt2 {
namespace {

constexpr std::size_t maxMembers = 1'000'000;
constexpr std::int64_t maxPickleBytes = 64LL << 20;
constexpr std::size_t maxPickleValues = 2'000'000;

}  // namespace

bool fits(DType dtype, const Sizes& sizes, const Sizes& strides, std::int64_t offset, std::int64_t storageBytes) {
  return Tensor(Storage::borrow(nullptr, storageBytes, nullptr), dtype, sizes, strides, offset).inBounds();
}

Result<TorchFile> readTorchFile(std::span<const std::byte> bytes) {
  TorchFile file;
  file.bytes = bytes;
  KERF_TRY(file.directory, ZipDirectory::read(bytes, maxMembers));
  const ZipMember* data = nullptr;
  for (const ZipMember& member : file.directory.members())
    if (member.name.ends_with("/data.pkl") && member.name.find('/') + sizeof("data.pkl") == member.name.size())
      data = &member;
  if (data == nullptr) return fail(ErrorCode::BadInput, "this is not a file of torch.save: it has no data.pkl");
  file.root = data->name.substr(0, data->name.find('/') + 1);
  if (const ZipMember* order = file.directory.find(file.root + "byteorder")) {
    KERF_TRY(const std::string text, file.directory.read(*order, 64));
    if (text != "little")
      return fail(ErrorCode::BadInput, "the tensors were saved on a machine that is not little-endian");
  }
  KERF_TRY(const std::string pickle, file.directory.read(*data, maxPickleBytes));
  KERF_TRY(file.pickle, readPickle(std::as_bytes(std::span(pickle.data(), pickle.size())), maxPickleValues));
  return file;
}

Result<std::span<const std::byte>> TorchFile::storageOf(const PickledTensor& tensor) const {
  const ZipMember* member = directory.find(root + "data/" + tensor.storageKey);
  if (member == nullptr)
    return fail(ErrorCode::BadInput, "the bytes of the storage '{}' are missing", tensor.storageKey);
  if (!member->stored)
    return fail(ErrorCode::BadInput, "the bytes of the storage '{}' are compressed", tensor.storageKey);
  if (member->bytes < tensor.storageBytes)
    return fail(ErrorCode::BadInput, "the storage '{}' has {} bytes, its pickle says {}", tensor.storageKey,
                member->bytes, tensor.storageBytes);
  if (!fits(tensor.dtype, tensor.sizes, tensor.strides, tensor.offset, member->bytes))
    return fail(ErrorCode::BadInput, "a tensor reaches beyond its storage '{}'", tensor.storageKey);
  return directory.view(*member);
}

}  // namespace kerf::inline capture::pt2
