#include "engine/capture/common/import_source.h"

#include "engine/capture/common/log_bytes.h"

namespace kerf::inline capture {

Result<ImportSource> openSource(const std::filesystem::path& path, const ImportLimits& limits, Recogniser isLog) {
  ImportSource source;
  source.path = path;
  KERF_TRY(source.mapped, mapFile(path));
  source.text = {reinterpret_cast<const char*>(source.mapped->data()), std::size_t(source.mapped->bytes())};
  if (!source.text.starts_with("\x1f\x8b")) return source;
  source.compressed = true;
  std::string head = unpackGzipHead(source.text, recognitionBytes);
  if (!isLog(head)) {
    auto whole = unpackGzip(source.text, limits);
    if (!whole) return fail(std::move(whole.error().atFile(path.string(), 0)));
    if (whole->cut)
      return fail(
          Error{ErrorCode::BadInput,
                fmt::format("the gzip data is damaged or cut off after {} bytes of content", whole->unpacked.size()),
                path.string(),
                0,
                {},
                {}});
    head = std::move(whole->unpacked);
  }
  source.unpacked = std::make_shared<const std::string>(std::move(head));
  source.text = *source.unpacked;
  return source;
}

}  // namespace kerf::inline capture
