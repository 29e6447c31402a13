#include "engine/capture/import_sources.h"

#include <algorithm>
#include <array>

#include "engine/capture/repro/aoti_repro.h"
#include "engine/capture/repro/document.h"
#include "engine/capture/trace/bytes.h"

namespace kerf::inline capture {
namespace {

constexpr std::size_t wholeTextBytes = 4 << 20;  ///< of texts that are searched to their end

std::string_view headOf(const ImportSource& source) { return source.text.substr(0, recognitionBytes); }

bool isTrace(const ImportSource& source) { return looksLikeTorchTrace(headOf(source)); }

bool isPt2(const ImportSource& source) { return !source.compressed && looksLikePt2(headOf(source)); }

/// load_args stands at the end of a repro, maybe megabytes behind its head.
bool isRepro(const ImportSource& source) {
  const std::string_view text = source.text;
  const auto has = [&](std::string_view mark) { return text.find(mark) != std::string_view::npos; };
  if (headOf(source).find('\0') != std::string_view::npos) return false;
  return has("def load_args(") || (has("class Repro(") && has("rand_strided")) ||
         (has("run_repro(") && has("class ") && has("def forward(")) || (has("class Repro(") && has("import torch"));
}

bool isAotiRepro(const ImportSource& source) {
  return source.text.size() <= wholeTextBytes && looksLikeAotiRepro(source.text) && !isRepro(source);
}

/// In what people paste the graph may come late.
bool isGraphText(const ImportSource& source) {
  if (headOf(source).find('\0') != std::string_view::npos) return false;
  return looksLikeGraphText(source.text.size() <= wholeTextBytes ? source.text : headOf(source));
}

bool isDot(const ImportSource& source) { return looksLikeGraphDot(headOf(source)); }

Result<Capture> openTrace(const ImportSource& source, const ImportLimits& limits, const ImportProgress& progress) {
  return importTorchTrace(source.path, limits, progress);
}

Result<Capture> openPt2(const ImportSource& source, const ImportLimits& limits, const ImportProgress& progress) {
  return importPt2(source.path, limits, progress);
}

std::unexpected<Error> cancelled(const ImportSource& source) {
  return fail(Error{ErrorCode::Cancelled, "import cancelled", source.path.string(), 0, {}, {}});
}

using TextImporter = Result<Capture> (*)(std::string_view, const std::filesystem::path&, const ImportLimits&);

/// Text is parsed in one go: progress is asked before and after.
template <TextImporter importer>
Result<Capture> openText(const ImportSource& source, const ImportLimits& limits, const ImportProgress& progress) {
  if (progress && !progress(0.1)) return cancelled(source);
  KERF_TRY(Capture capture, importer(source.text, source.path, limits));
  if (progress && !progress(1.0)) return cancelled(source);
  return capture;
}

constexpr std::array kinds = {FileKind{"pt2", isPt2, openPt2},
                              FileKind{"torch_trace", isTrace, openTrace},
                              FileKind{"zipped_repro", isZippedRepro, openZippedRepro},
                              FileKind{"aoti_repro", isAotiRepro, openText<importAotiRepro>},
                              FileKind{"repro", isRepro, openText<importReproText>},
                              FileKind{"graph_transforms", isDot, openText<importGraphDot>},
                              FileKind{"text", isGraphText, openText<importGraphText>}};

struct Magic {
  std::string_view bytes, meaning;
};
constexpr std::array magics = {Magic{"PK\x03\x04", "a zip archive (a checkpoint, one storage, or a damaged .pt2)"},
                               Magic{"\x1f\x8b", "gzip-compressed"},
                               Magic{"\x7f"
                                     "ELF",
                                     "a compiled program"},
                               Magic{"\x80\x02", "a Python pickle, which Kerf never loads"},
                               Magic{"\x80\x04", "a Python pickle, which Kerf never loads"},
                               Magic{"%PDF", "a PDF document"},
                               Magic{"\x89PNG", "a picture"},
                               Magic{"BC\xc0\xde", "LLVM bitcode"}};

}  // namespace

Result<ImportSource> openSource(const std::filesystem::path& path, const ImportLimits& limits) {
  ImportSource source;
  source.path = path;
  KERF_TRY(source.mapped, mapFile(path));
  source.text = {reinterpret_cast<const char*>(source.mapped->data()), std::size_t(source.mapped->bytes())};
  if (!source.text.starts_with("\x1f\x8b")) return source;
  source.compressed = true;
  std::string head = trace::unpackGzipHead(source.text, recognitionBytes);
  if (!looksLikeTorchTrace(head)) {  // logs are unpacked by their own reader
    auto whole = trace::unpackGzip(source.text, limits);
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

const FileKind* fileKindOf(const ImportSource& source) {
  const auto found = std::ranges::find_if(kinds, [&](const FileKind& kind) { return kind.recognise(source); });
  return found == kinds.end() ? nullptr : &*found;
}

std::string describeContent(std::string_view text) {
  if (text.empty()) return "empty";
  for (const Magic& magic : magics)
    if (text.starts_with(magic.bytes)) return std::string(magic.meaning);
  const std::string_view head = text.substr(0, recognitionBytes);
  if (head.find('\0') != std::string_view::npos) return "a binary file of no known kind";
  if (head.find("def ") != std::string_view::npos || head.find("import ") != std::string_view::npos)
    return "Python without a captured graph";
  return "text without a graph";
}

}  // namespace kerf::inline capture
