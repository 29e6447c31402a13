#include "engine/capture/pt2/payloads.h"

#include "engine/capture/pt2/argument.h"

namespace kerf::inline capture::pt2 {
namespace {

std::vector<Dim> dimsOf(const Sizes& values) {
  std::vector<Dim> dims;
  for (const std::int64_t value : values) dims.push_back(dim(value));
  return dims;
}

/// A torch.save file as a member: opened in place, or unpacked into memory that `keep` holds.
struct SavedFile {
  TorchFile file;
  std::optional<FileRange> place;
  StoragePtr keep;
};

Result<SavedFile> openSaved(const Pt2Archive& archive, const ZipMember& member, const ImportLimits& limits) {
  SavedFile saved;
  saved.place = archive.range(member);
  std::span<const std::byte> bytes = archive.directory().view(member);
  if (!saved.place) {
    KERF_TRY(const std::string unpacked, archive.directory().read(member, limits.tensorBytes));
    KERF_TRY(saved.keep, Storage::allocate(std::int64_t(unpacked.size())));
    std::memcpy(saved.keep->data(), unpacked.data(), unpacked.size());
    bytes = saved.keep->view();
  }
  KERF_TRY(saved.file, readTorchFile(bytes));
  return saved;
}

class PayloadReader {
 public:
  PayloadReader(const Pt2Archive& archive, const PayloadSource& source, StorageTable& storages,
                const ImportLimits& limits, std::vector<std::string>& notes)
      : m_archive(archive), m_source(source), m_storages(storages), m_limits(limits), m_notes(notes) {}

  Result<std::vector<Pt2Payload>> readConfig(const ZipMember& config) {
    std::string unpacked;
    KERF_TRY(const std::string_view text, m_archive.text(config, m_limits.fileBytes, unpacked));
    JsonCursor json(text, config.name, m_limits.nesting);
    KERF_CHECK(json.forEachMember([&](const std::string& key) -> Result<void> {
      if (key == "config")
        return json.forEachMember([&](std::string name) { return readEntry(json, std::move(name)); });
      KERF_CHECK(json.skip());
      return {};
    }));
    KERF_CHECK(json.end());
    return std::move(m_payloads);
  }

  /// The one dict of name → tensor of older layouts.
  Result<std::vector<Pt2Payload>> readSaved() {
    auto saved = openSaved(m_archive, *m_source.saved, m_limits);
    if (!saved) {
      note(m_source.saved->name, saved.error());
      return std::move(m_payloads);
    }
    const Pickle& pickle = saved->file.pickle;
    const PickleValue& dict = pickle.values[pickle.root];
    for (std::size_t i = 0; i + 1 < dict.items.size(); i += 2) {
      const PickleValue& key = pickle.values[dict.items[i]];
      const PickleValue& value = pickle.values[dict.items[i + 1]];
      if (key.kind != PickleValue::Kind::String || value.kind != PickleValue::Kind::Tensor) continue;
      if (std::int64_t(m_payloads.size()) >= m_limits.nodes)
        return fail(ErrorCode::TooLarge, "'{}' holds more than {} tensors", m_source.saved->name, m_limits.nodes);
      KERF_CHECK(addSaved(*saved, key.text, pickle.tensors[std::size_t(value.integer)]));
    }
    return std::move(m_payloads);
  }

 private:
  void note(std::string_view what, const Error& error) {
    constexpr std::size_t enough = 20;
    if (m_notes.size() < enough) m_notes.push_back(fmt::format("{} cannot be read: {}", what, error.message));
  }

  Result<void> addSaved(const SavedFile& saved, const std::string& name, const PickledTensor& tensor) {
    Pt2Payload payload;
    payload.name = name;
    payload.isParameter = tensor.isParameter;
    payload.meta = metaOf(tensor);
    if (auto storage = m_storages.ofTorchFile(saved.file, tensor, saved.place, saved.keep))
      payload.storage = *storage;
    else
      note(name, storage.error());
    m_payloads.push_back(std::move(payload));
    return {};
  }

  Result<void> readEntry(JsonCursor& json, std::string name) {
    if (std::int64_t(m_payloads.size()) >= m_limits.nodes)
      return fail(ErrorCode::TooLarge, "'{}' describes more than {} tensors", m_source.config, m_limits.nodes);
    Pt2Payload payload;
    payload.name = std::move(name);
    (void)json.peek();
    const std::size_t start = json.position();
    KERF_TRY(payload.text, json.skip());
    json.seek(start);
    KERF_CHECK(json.forEachMember([&](const std::string& key) { return readField(json, key, payload); }));
    KERF_CHECK(findBytes(payload));
    m_payloads.push_back(std::move(payload));
    return {};
  }

  static Result<void> readField(JsonCursor& json, std::string_view key, Pt2Payload& payload) {
    if (key == "path_name") {
      KERF_TRY(payload.pathName, json.string());
    } else if (key == "is_param") {
      KERF_TRY(payload.isParameter, json.boolean());
    } else if (key == "use_pickle") {
      KERF_TRY(payload.usesPickle, json.boolean());
    } else if (key == "tensor_meta" && !json.null()) {
      KERF_TRY(payload.meta, readTensorMeta(json));
    } else if (key != "tensor_meta") {
      KERF_CHECK(json.skip());
    }
    return {};
  }

  Result<void> findBytes(Pt2Payload& payload) {
    const ZipMember* member = m_archive.find(m_source.folder + payload.pathName);
    if (member == nullptr) {
      note(payload.name, Error{ErrorCode::BadInput,
                               fmt::format("the member '{}{}' is missing", m_source.folder, payload.pathName),
                               {},
                               0,
                               {},
                               {}});
      return {};
    }
    payload.bytes = m_archive.range(*member);
    payload.crc32 = member->crc32;
    if (payload.usesPickle) {
      if (payload.meta) readPickled(*member, payload);
      if (!payload.bytes) {
        KERF_TRY(payload.content, m_archive.directory().read(*member, m_limits.fileBytes));
      }
      return {};
    }
    if (!payload.meta) return fail(ErrorCode::BadInput, "'{}' describes no tensor", payload.name);
    if (member->bytes == 0) return {};  // saved without data
    KERF_TRY(payload.storage, m_storages.ofMember(m_archive, *member, *payload.meta));
    const auto sizes = payload.meta->concreteSizes(), strides = payload.meta->concreteStrides();
    if (!sizes || !strides || !fits(payload.meta->dtype, *sizes, *strides, payload.meta->storageOffset, member->bytes))
      return fail(ErrorCode::BadInput, "the tensor '{}' reaches beyond the {} bytes of '{}'", payload.name,
                  member->bytes, member->name);
    return {};
  }

  void readPickled(const ZipMember& member, Pt2Payload& payload) {
    const auto read = [&]() -> Result<void> {
      KERF_TRY(const SavedFile saved, openSaved(m_archive, member, m_limits));
      const Pickle& pickle = saved.file.pickle;
      const PickleValue& root = pickle.values[pickle.root];
      if (root.kind != PickleValue::Kind::Tensor) return fail(ErrorCode::BadInput, "its pickle holds no tensor");
      const PickledTensor& tensor = pickle.tensors[std::size_t(root.integer)];
      KERF_TRY(payload.storage, m_storages.ofTorchFile(saved.file, tensor, saved.place, saved.keep));
      payload.meta = metaOf(tensor);
      return {};
    };
    if (const auto done = read(); !done) note(payload.name, done.error());
  }

  const Pt2Archive& m_archive;
  const PayloadSource& m_source;
  StorageTable& m_storages;
  const ImportLimits& m_limits;
  std::vector<std::string>& m_notes;
  std::vector<Pt2Payload> m_payloads;
};

}  // namespace

TensorMeta metaOf(const PickledTensor& tensor) {
  TensorMeta meta;
  meta.dtype = tensor.dtype;
  meta.sizes = dimsOf(tensor.sizes);
  meta.strides = dimsOf(tensor.strides);
  meta.storageOffset = tensor.offset;
  meta.device = tensor.device;
  meta.requiresGrad = tensor.requiresGrad;
  return meta;
}

Result<std::int64_t> bytesNeeded(const TensorMeta& meta, std::int64_t limit) {
  std::int64_t last = meta.storageOffset, bytes = 0;
  bool empty = false;
  for (std::size_t d = 0; d < meta.sizes.size(); ++d) {
    const std::int64_t size = meta.sizes[d].hint.value_or(1), stride = meta.strides[d].hint.value_or(1);
    std::int64_t reach = 0;
    empty |= size == 0;
    if (size < 0 || stride < 0 || last < 0 ||
        __builtin_mul_overflow(std::max<std::int64_t>(size - 1, 0), stride, &reach) ||
        __builtin_add_overflow(last, reach, &last))
      return fail(ErrorCode::BadInput, "a tensor has sizes and strides that cannot be");
  }
  if (empty) return 0;
  if (__builtin_add_overflow(last, 1, &last) || __builtin_mul_overflow(last, itemSize(meta.dtype), &bytes) ||
      bytes > limit)
    return fail(ErrorCode::TooLarge, "a tensor needs more than {} bytes", limit);
  return bytes;
}

int StorageTable::add(StorageRef reference, const std::string& key) {
  const int index = int(m_storages.size());
  m_storages.push_back(std::move(reference));
  if (!key.empty()) m_known.emplace(key, index);
  return index;
}

Result<int> StorageTable::ofMember(const Pt2Archive& archive, const ZipMember& member, const TensorMeta& meta) {
  const std::string key(member.name);
  if (const auto known = m_known.find(key); known != m_known.end()) return known->second;
  if (member.bytes > m_limits.tensorBytes)
    return fail(ErrorCode::TooLarge, "'{}' holds {} bytes, the limit is {}", member.name, member.bytes,
                m_limits.tensorBytes);
  StorageRef reference;
  reference.bytes = member.bytes;
  reference.device = meta.device;
  if (meta.dtype != DType::Float32) reference.dtypeHint = meta.dtype;
  reference.file = archive.range(member);
  reference.crc32 = member.crc32;
  if (!reference.file) {
    KERF_TRY(const std::string unpacked, archive.directory().read(member, m_limits.tensorBytes));
    KERF_TRY(reference.data, Storage::allocate(std::int64_t(unpacked.size())));
    std::memcpy(reference.data->data(), unpacked.data(), unpacked.size());
  }
  return add(std::move(reference), key);
}

Result<int> StorageTable::ofTorchFile(const TorchFile& file, const PickledTensor& tensor,
                                      const std::optional<FileRange>& place, const StoragePtr& keep) {
  KERF_TRY(const auto bytes, file.storageOf(tensor));
  const std::int64_t offset = bytes.data() - file.bytes.data();
  const std::string key =
      fmt::format("{} {}", place ? place->offset : reinterpret_cast<std::intptr_t>(keep.get()), offset);
  if (const auto known = m_known.find(key); known != m_known.end()) return known->second;
  StorageRef reference;
  reference.bytes = std::int64_t(bytes.size());
  reference.device = tensor.device;
  if (tensor.dtype != DType::Float32) reference.dtypeHint = tensor.dtype;
  reference.crc32 = file.directory.find(file.root + "data/" + tensor.storageKey)->crc32;
  if (place)
    reference.file = FileRange{place->path, place->offset + offset, reference.bytes};
  else
    reference.data = Storage::borrow(keep->data() + offset, reference.bytes, keep);
  return add(std::move(reference), key);
}

Result<int> StorageTable::missing(const TensorMeta& meta) {
  StorageRef reference;
  KERF_TRY(reference.bytes, bytesNeeded(meta, m_limits.tensorBytes));
  reference.device = meta.device;
  if (meta.dtype != DType::Float32) reference.dtypeHint = meta.dtype;
  return add(std::move(reference), {});
}

Result<std::vector<Pt2Payload>> readPayloads(const Pt2Archive& archive, const PayloadSource& source,
                                             StorageTable& storages, const ImportLimits& limits,
                                             std::vector<std::string>& notes) {
  PayloadReader reader(archive, source, storages, limits, notes);
  if (source.saved != nullptr) return reader.readSaved();
  if (const ZipMember* config = archive.find(source.config)) return reader.readConfig(*config);
  return std::vector<Pt2Payload>();
}

}  // namespace kerf::inline capture::pt2
