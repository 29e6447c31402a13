#include "engine/capture/file_kinds.h"

#include <algorithm>
#include <array>

#include "engine/capture/debug/graph_dot.h"
#include "engine/capture/pt2/import.h"
#include "engine/capture/repro/aoti_repro.h"
#include "engine/capture/repro/document.h"
#include "engine/capture/repro/zipped.h"
#include "engine/capture/text/capture.h"
#include "engine/capture/trace/torch_logs.h"
#include "engine/capture/trace/torch_trace.h"
#include "engine/capture/trace/triton_trace.h"

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

bool isTorchLogs(const ImportSource& source) {
  if (headOf(source).find('\0') != std::string_view::npos) return false;
  return looksLikeTorchLogs(source.text.size() <= wholeTextBytes ? source.text : headOf(source));
}

bool isTritonTrace(const ImportSource& source) { return looksLikeTritonTrace(headOf(source)); }

bool isDot(const ImportSource& source) { return looksLikeGraphDot(headOf(source)); }

Result<Capture> openTorchTrace(const ImportSource& source, const ImportLimits& limits, const ImportProgress& progress) {
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
                              FileKind{"torch_trace", isTrace, openTorchTrace},
                              FileKind{"tritonparse", isTritonTrace, openText<importTritonTrace>},
                              FileKind{"zipped_repro", isZippedRepro, openZippedRepro},
                              FileKind{"aoti_repro", isAotiRepro, openText<importAotiRepro>},
                              FileKind{"repro", isRepro, openText<importReproText>},
                              FileKind{"torch_logs", isTorchLogs, openText<importTorchLogs>},
                              FileKind{"graph_transforms", isDot, openText<importGraphDot>},
                              FileKind{"text", isGraphText, openText<importGraphText>}};

struct FileSignature {
  std::string_view bytes, meaning;
};
constexpr std::array signatures = {
    FileSignature{"PK\x03\x04", "a zip archive (a checkpoint, one storage, or a damaged .pt2)"},
    FileSignature{"\x1f\x8b", "gzip-compressed"},
    FileSignature{"\x7f"
                  "ELF",
                  "a compiled program"},
    FileSignature{"\x80\x02", "a Python pickle, which Kerf never loads"},
    FileSignature{"\x80\x04", "a Python pickle, which Kerf never loads"},
    FileSignature{"%PDF", "a PDF document"},
    FileSignature{"\x89PNG", "a picture"},
    FileSignature{"BC\xc0\xde", "LLVM bitcode"}};

}  // namespace

const FileKind* fileKindOf(const ImportSource& source) {
  const auto found = std::ranges::find_if(kinds, [&](const FileKind& kind) { return kind.recognise(source); });
  return found == kinds.end() ? nullptr : &*found;
}

std::string describeContent(std::string_view text, const std::filesystem::path& path) {
  if (text.empty()) return "empty";
  for (const FileSignature& signature : signatures)
    if (text.starts_with(signature.bytes)) return std::string(signature.meaning);
  const std::string_view head = text.substr(0, recognitionBytes);
  if (head.find('\0') != std::string_view::npos) return "a binary file of no known kind";
  if (path.extension() == ".py" || head.find("def ") != std::string_view::npos ||
      head.find("import ") != std::string_view::npos)
    return "Python without a captured graph";
  return "text without a graph";
}

}  // namespace kerf::inline capture
